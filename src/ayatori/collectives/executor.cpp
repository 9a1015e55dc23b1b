#include "ayatori/collectives/executor.hpp"

#include <span>

namespace ayatori::collectives {

namespace {

constexpr int tag = 32004;  // communicators of the library carry no user messages with it

}  // namespace

void Executor::run(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                   comm::ReduceOp op) {
  auto* const bytes = static_cast<std::byte*>(data);
  const auto size = static_cast<std::int64_t>(comm::size_of(type));
  // Chunks begin at whole elements; some are empty where there are fewer elements than chunks.
  const auto begin_of = [&](int chunk) {
    return (is_by_rank_ ? chunk * count : chunk * count / chunks_) * size;
  };
  const auto length_of = [&](const ChunkRange& range) { return begin_of(range.end) - begin_of(range.begin); };

  for (auto stage = steps_.begin(); stage != steps_.end();) {
    auto end = stage;
    std::int64_t to_combine = 0;
    for (; end != steps_.end() && end->stage == stage->stage; ++end) {
      if (end->kind != Step::Kind::reduce) continue;
      for (const ChunkRange& range : end->chunks) to_combine += length_of(range);
    }
    if (std::ssize(arrived_) < to_combine) arrived_.resize(to_combine);
    requests_.clear();
    std::byte* place = arrived_.data();
    for (auto step = stage; step != end; ++step) {
      if (step->kind == Step::Kind::send) continue;
      for (const ChunkRange& range : step->chunks) {
        const std::int64_t length = length_of(range);
        const bool combines = step->kind == Step::Kind::reduce;
        std::byte* const target = combines ? place : bytes + begin_of(range.begin);
        if (length > 0) requests_.push_back(comm.irecv(std::span(target, length), step->peer, tag));
        if (combines) place += length;
      }
    }
    for (auto step = stage; step != end; ++step) {
      if (step->kind != Step::Kind::send) continue;
      for (const ChunkRange& range : step->chunks) {
        const std::int64_t length = length_of(range);
        const std::span<const std::byte> out(bytes + begin_of(range.begin), length);
        if (length > 0) requests_.push_back(comm.isend(out, step->peer, tag));
      }
    }
    comm::wait_all(requests_);
    const std::byte* next = arrived_.data();
    for (auto step = stage; step != end; ++step) {
      if (step->kind != Step::Kind::reduce) continue;
      for (const ChunkRange& range : step->chunks) {
        const std::int64_t length = length_of(range);
        comm::reduce_local(next, bytes + begin_of(range.begin), length / size, type, op);
        next += length;
      }
    }
    stage = end;
  }
}

}  // namespace ayatori::collectives
