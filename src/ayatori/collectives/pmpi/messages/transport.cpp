#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

namespace {

int own_tag(int tag_of_executor) {
  return tag_of_executor - collectives::Executor::first_tag + TagSpace::of_schedules;
}

}  // namespace

void check(int code) {
  if (code != MPI_SUCCESS) throw MpiError(code);
}

void PmpiTransport::begin(MPI_Datatype type, MPI_Op op) {
  type_ = type;
  op_ = op;
  requests_.clear();
}

void PmpiTransport::begin_receive(std::byte* data, std::int64_t length, int peer, int tag) {
  begin_receive(data, length, MPI_BYTE, peer, own_tag(tag));
}

void PmpiTransport::begin_send(const std::byte* data, std::int64_t length, int peer, int tag) {
  begin_send(data, length, MPI_BYTE, peer, own_tag(tag));
}

void PmpiTransport::begin_receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int own_tag) {
  const int from = space_.target(peer);
  const int tag = space_.tag_from_any(own_tag);
#if MPI_VERSION >= 4
  check(PMPI_Irecv_c(data, count, type, from, tag, private_comm(), &requests_.emplace_back()));
#else
  check(
      PMPI_Irecv(data, static_cast<int>(count), type, from, tag, private_comm(), &requests_.emplace_back()));
#endif
}

void PmpiTransport::begin_send(const void* data, MPI_Count count, MPI_Datatype type, int peer, int own_tag) {
  const int to = space_.target(peer);
  const int tag = space_.tag_to(peer, own_tag);
#if MPI_VERSION >= 4
  check(PMPI_Isend_c(data, count, type, to, tag, private_comm(), &requests_.emplace_back()));
#else
  check(PMPI_Isend(data, static_cast<int>(count), type, to, tag, private_comm(), &requests_.emplace_back()));
#endif
}

void PmpiTransport::wait_all() {
  if (requests_.empty()) return;
  check(PMPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
}

std::size_t PmpiTransport::wait_any() {
  int done = MPI_UNDEFINED;
  check(PMPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &done, MPI_STATUS_IGNORE));
  requests_[done] = requests_.back();
  requests_.pop_back();
  return done;
}

void PmpiTransport::poke() {
  // For what is never there: a probe that finds something lets nothing proceed.
  int found = 0;
  check(PMPI_Iprobe(space_.target(space_.rank()), space_.tag_from_any(TagSpace::never_sent), private_comm(),
                    &found, MPI_STATUS_IGNORE));
}

void PmpiTransport::combine(const std::byte* in, std::byte* inout, std::int64_t count) {
  check(PMPI_Reduce_local(in, inout, static_cast<int>(count), type_, op_));
}

}  // namespace ayatori::pmpi
