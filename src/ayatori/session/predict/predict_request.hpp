#pragma once

#include <set>
#include <span>
#include <string>

#include "ayatori/session/option.hpp"

namespace ayatori::session {

/// What may be asked about an iteration on other machines, beside the matrix. Words are those of the table
/// below.
struct PredictRequest {
  std::string nodes = "1..64";
  int ranks_per_node = 1;
  int threads = 1;
  std::string network;
  std::string profile = "auto";
  double memory_bandwidth = 0;
  std::string partition = "contiguous";
  std::string method = "cg";
  std::string preconditioner = "none";
};

/// The table of options: what a line here declares, every face offers.
std::span<const Option<PredictRequest>> predict_options();

/// Throws InputError for values that mean nothing, and for more nodes than the network has. Options are
/// called by their names on the command line.
void check(const PredictRequest& request);

/// "1..64" are powers of two with both ends; several such, or single numbers, are separated by commas. Throws
/// InputError.
std::set<int> node_counts(const std::string& text);

}  // namespace ayatori::session
