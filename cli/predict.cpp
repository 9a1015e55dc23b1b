#include "ayatori/session/predict/predict.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/npb/matrix.hpp"
#include "cli/command.hpp"
#include "cli/parser/declare.hpp"

namespace ayatori::cli {

namespace {

struct PredictArguments {
  std::string matrix;
  session::PredictRequest request;
  std::string json;
};

/// A file, a generator's spec, or `npb-cg:CLASS`, the matrix of the NAS benchmark.
forecast::Pattern read_pattern(const std::string& source) {
  constexpr std::string_view npb = "npb-cg:";
  if (!source.starts_with(npb) || std::filesystem::exists(source)) return session::read_pattern(source);
  const auto matrix =
      bench::npb_matrix(comm::Comm::self(), bench::npb_class(source.substr(npb.size()))).interior;
  return {{matrix.row_start.begin(), matrix.row_start.end()}, {matrix.column.begin(), matrix.column.end()}};
}

int run_predict(const comm::Comm& world, const PredictArguments& arguments) {
  const session::PatternSource matrix{arguments.matrix, [&] { return read_pattern(arguments.matrix); }};
  const auto run = session::predict(world, matrix, arguments.request);
  comm::agree(world, [&] {
    if (!run) return;
    fmt::print(stderr, "{}", summary(*run));
    if (!arguments.json.empty()) write_file(arguments.json, to_json(*run).dump(1) + "\n");
  });
  return 0;
}

}  // namespace

void add_predict(Command& app, Run& run) {
  auto arguments = std::make_shared<PredictArguments>();
  auto* command =
      app.add_subcommand("predict", "How an iteration would scale on a machine, and what bounds it");
  command->examples({{"ayatori predict A.mtx --nodes 1..64 --profile altix3700bx2 --memory-bandwidth 5",
                      "an iteration on a published machine, and what bounds it"},
                     {"ayatori predict poisson3d-7:n=16 --nodes 1,8,64 --network torus:4x4x4 --profile "
                      "altix3700bx2 --memory-bandwidth 5 --json forecast.json",
                      "the same on a torus, kept"}});
  command
      ->add_option("MATRIX", arguments->matrix,
                   "A file, a generator spec, or npb-cg:CLASS, the matrix of that benchmark")
      ->required();
  declare(*command, session::predict_options(), arguments->request);
  command->add_option("--json", arguments->json, "Write the forecast here (schema ayatori.predict/1)");
  command->callback([arguments, &run] {
    run = [arguments](const comm::Comm& world) { return run_predict(world, *arguments); };
  });
}

}  // namespace ayatori::cli
