#include "ayatori/session/solve/checkpoint.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include "ayatori/base/json.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/io/checkpoint.hpp"
#include "ayatori/tuning/policy/choice_json.hpp"

namespace ayatori::session {

namespace {

using Json = nlohmann::ordered_json;

/// 64 bits as JSON keeps them everywhere: digits.
std::string digits(std::uint64_t value) {
  return fmt::format("{:016x}", value);
}

std::string note_of(const SystemIdentity& system, const tuning::Snapshot& snapshot,
                    std::int64_t iterations_before, double seconds_before) {
  const Json note{{"schema", "ayatori.checkpoint/2"},
                  {"matrix", digits(system.matrix.values)},
                  {"rhs", digits(system.rhs)},
                  {"rtol", system.rtol},
                  {"choice", to_json(snapshot.choice)},
                  {"iterations", iterations_before + snapshot.iterations},
                  {"seconds", seconds_before + snapshot.seconds},
                  {"relative_residual", snapshot.relative_residual}};
  return note.dump();
}

/// What the note says; of x nothing. Throws InputError.
Resumed read_note(const std::string& path, const std::string& text, const SystemIdentity& system) {
  const auto refuse = [&](std::string_view what) { throw InputError(fmt::format("{}: {}", path, what)); };
  const std::string what = path + ": a checkpoint with a note that makes no sense";
  const auto note = naming(what, [&] { return parse_ordered_json(text); });
  const auto is = [&](const char* key, const std::string& value) {
    return naming(what, [&] { return note.at(key) == value; });
  };
  if (!is("schema", "ayatori.checkpoint/2")) refuse("a checkpoint of another version");
  if (!is("matrix", digits(system.matrix.values))) refuse("the checkpoint of another matrix");
  if (!is("rhs", digits(system.rhs))) refuse("the checkpoint of another right-hand side");
  constexpr double any = std::numeric_limits<double>::max();
  return naming(what, [&]() -> Resumed {
    return {{},
            tuning::choice_from_json(note.at("choice")),
            path,
            whole_number<std::int64_t>(note.at("iterations"), 0),
            number_between(note.at("seconds"), 0, any),
            number_between(note.at("relative_residual"), 0, any)};
  });
}

}  // namespace

Resumed resume(const comm::Comm& comm, const std::string& path, const Problem& problem,
               const SystemIdentity& system) {
  auto checkpoint = io::read_checkpoint(comm, path, problem.file_rows);
  auto resumed = comm::agree(comm, [&] { return read_note(path, checkpoint.note, system); });
  resumed.x = problem.to_solver(comm, std::move(checkpoint.x));
  return resumed;
}

void begin_with(const Resumed& resumed, tuning::SolveOptions& options) {
  options.experience.best = resumed.choice;
  options.experience.why = fmt::format("it was at work when {} was written", resumed.file);
}

CheckpointWriter::CheckpointWriter(comm::Comm comm, const Problem& problem, std::string path,
                                   SystemIdentity system, const Resumed* before, Uninterrupted uninterrupted)
    : comm_(std::move(comm)),
      problem_(problem),
      path_(std::move(path)),
      system_(system),
      uninterrupted_(std::move(uninterrupted)) {
  if (before == nullptr) return;
  iterations_before_ = before->iterations;
  seconds_before_ = before->seconds;
}

void CheckpointWriter::write(const tuning::Snapshot& snapshot) {
  const auto write_file = [&] {
    const auto x = problem_.to_file(comm_, Array<double>(snapshot.x.begin(), snapshot.x.end()));
    io::write_checkpoint(comm_, path_, note_of(system_, snapshot, iterations_before_, seconds_before_), x,
                         problem_.file_rows);
  };
  try {
    uninterrupted_ ? uninterrupted_(write_file) : write_file();
    ++written_;
    failure_.clear();
  } catch (const Error& error) {
    if (!error.agreed()) throw;
    failure_ = error.what();
  }
}

Json to_json(const Resumed& resumed) {
  return {{"file", resumed.file},
          {"iterations", resumed.iterations},
          {"seconds", resumed.seconds},
          {"relative_residual", resumed.relative_residual}};
}

Json to_json(const CheckpointWriter& writer) {
  return {{"file", writer.path()},
          {"written", writer.written()},
          {"failure", writer.failure().empty() ? Json(nullptr) : Json(writer.failure())}};
}

}  // namespace ayatori::session
