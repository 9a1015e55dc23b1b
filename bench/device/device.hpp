#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/gpu/rates.hpp"
#include "ayatori/sparse/csr.hpp"

// Parts of the benchmark of devices; each gives a list of results, and prints a line for each.

namespace ayatori::bench::device {

/// Products in every format that suits, against the reference and beside cuSPARSE. False if one is wrong.
bool run_products(const comm::Comm& comm, gpu::Device& device, const gpu::Rates& rates, bool quick,
                  nlohmann::json& results);

/// Methods with preconditioners: residuals, iterations, seconds of an iteration, beside the processor's.
/// False if a claim is wrong.
bool run_methods(const comm::Comm& comm, gpu::Device& device, bool quick, nlohmann::json& results);

/// Whole solves on the processor, where the tuner likes, and on this kind of device. False if one that the
/// processor solves is not solved where the tuner likes.
bool run_solves(const comm::Comm& comm, const std::string& kind, bool quick, nlohmann::json& results);

/// y = A x by cuSPARSE, in double precision, where its library is found.
class Cusparse {
 public:
  /// Empty where the library was loaded, else why not.
  static std::string why_not();
  Cusparse(gpu::Device& device, const sparse::Csr& matrix, int algorithm, const double* x, double* y);
  ~Cusparse();
  Cusparse(const Cusparse&) = delete;
  Cusparse& operator=(const Cusparse&) = delete;
  /// Does not wait.
  void multiply();
  void synchronize();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ayatori::bench::device
