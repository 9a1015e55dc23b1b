#include "bench/papers/panel_channel.hpp"

#include "ayatori/comm/agree.hpp"

namespace ayatori::bench {

namespace {

constexpr int panel_tag = 1;

constexpr std::array forms{
    MatmulForm{"broadcast", "the communicator's broadcast", false, false},
    MatmulForm{"overlap", "messages that travel while the product before is computed", true, false},
    MatmulForm{"one-sided", "put into the others' memory while the product before is computed", true, true}};

}  // namespace

std::span<const MatmulForm> matmul_forms() {
  return forms;
}

PanelChannel::PanelChannel(const comm::Comm& grid, int line, std::int64_t longest, const MatmulForm& form)
    : comm_(grid.split(line, grid.rank())), form_(form), longest_(longest) {
  if (alone()) return;
  others_ = comm_.allgather(grid.rank());
  std::erase(others_, grid.rank());
  if (form_.one_sided) {
    window_.emplace(grid, 2 * longest * static_cast<std::int64_t>(sizeof(double)), others_, others_);
    return;
  }
  comm::agree(grid, [&] {
    for (auto& buffer : buffers_) buffer.resize(longest);
  });
}

double* PanelChannel::buffer(std::int64_t turn) {
  if (window_) return reinterpret_cast<double*>(window_->data()) + turn % 2 * longest_;
  return buffers_[turn % 2].data();
}

void PanelChannel::start(std::int64_t turn, std::int64_t count, int owner) {
  if (alone()) return;
  const std::span values(buffer(turn), count);
  under_way_ = form_.overlap;
  if (window_) {
    window_->post();
    window_->start();
    if (rank() == owner) {
      for (const int other : others_)
        window_->put(std::span<const double>(values), other, turn % 2 * longest_);
    }
    window_->complete();
  } else if (!form_.overlap) {
    comm_.broadcast(values, owner);
  } else if (rank() != owner) {
    requests_.push_back(comm_.irecv(values, owner, panel_tag));
  } else {
    for (int other = 0; other < comm_.size(); ++other) {
      if (other != owner) requests_.push_back(comm_.isend(std::span<const double>(values), other, panel_tag));
    }
  }
}

void PanelChannel::finish() {
  if (!under_way_) return;
  if (window_) window_->wait();
  comm::wait_all(requests_);
  requests_.clear();
  under_way_ = false;
}

}  // namespace ayatori::bench
