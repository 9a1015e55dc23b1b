#pragma once

#include <memory>
#include <stdexcept>
#include <vector>

#include "ayatori/collectives/execution/executor.hpp"
#include "ayatori/collectives/pmpi/messages/tag_space.hpp"

namespace ayatori::pmpi {

/// A call of MPI that failed.
struct MpiError : std::runtime_error {
  explicit MpiError(int error_code) : std::runtime_error("MPI"), code(error_code) {}
  int code;
};

/// Throws MpiError unless `code` is MPI_SUCCESS.
void check(int code);

/// Messages of an executor by a tag space, or through the memory of a node; operands are combined by MPI's
/// own loops.
class PmpiTransport final : public collectives::WaitingTransport {
 public:
  explicit PmpiTransport(TagSpace space) : space_(std::move(space)) {}

  const TagSpace& space() const { return space_; }

  /// Before every run: of calls that reduce, the type and the operation; forgets what a failed run has left.
  void begin(MPI_Datatype type, MPI_Op op);

  void use(std::unique_ptr<comm::NodeChannel> channel) { channel_ = std::move(channel); }

  comm::NodeChannel* node_channel() override { return channel_.get(); }
  void begin_receive(std::byte* data, std::int64_t length, int peer, int tag) override;
  void begin_send(const std::byte* data, std::int64_t length, int peer, int tag) override;
  /// Likewise of data of a program, which two ranks may describe by different types; by the space's own tags.
  void begin_receive(void* data, MPI_Count count, MPI_Datatype type, int peer, int own_tag);
  void begin_send(const void* data, MPI_Count count, MPI_Datatype type, int peer, int own_tag);
  void wait_all() override;
  std::size_t wait_any() override;
  void poke() override;
  void combine(const std::byte* in, std::byte* inout, std::int64_t count) override;

 private:
  TagSpace space_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Op op_ = MPI_OP_NULL;
  std::vector<MPI_Request> requests_;
  std::unique_ptr<comm::NodeChannel> channel_;
};

}  // namespace ayatori::pmpi
