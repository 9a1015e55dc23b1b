#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Point-to-point transfers that are prepared once and carried out many times (MPI persistent requests),
/// always all together. The buffers stay where they are as long as this lives, and untouched between start()
/// and the end of wait(). What was started must be waited for before it is destroyed.
class PersistentRequests {
 public:
  /// Transfers of more than `longest` elements are cut; both ends must agree on it.
  explicit PersistentRequests(Comm comm, std::int64_t longest = max_message);
  PersistentRequests(PersistentRequests&&) noexcept;
  PersistentRequests& operator=(PersistentRequests&&) noexcept;
  ~PersistentRequests();

  template <class T>
  void add_send(std::span<const T> data, int destination, int tag) {
    add_send(data.data(), static_cast<std::int64_t>(data.size()) * units_of<T>(), data_type_of<T>(),
             destination, tag);
  }
  template <class T>
  void add_receive(std::span<T> data, int source, int tag) {
    add_receive(data.data(), static_cast<std::int64_t>(data.size()) * units_of<T>(), data_type_of<T>(),
                source, tag);
  }

  void start();
  void wait();

 private:
  struct State;

  void add_send(const void* data, std::int64_t count, DataType type, int destination, int tag);
  void add_receive(void* data, std::int64_t count, DataType type, int source, int tag);

  std::unique_ptr<State> state_;
};

}  // namespace ayatori::comm
