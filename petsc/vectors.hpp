#pragma once

#include <span>

#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// This rank's elements of a vector, given back at the end whatever happens meanwhile.
class ReadArray {
 public:
  PetscErrorCode open(Vec vector) {
    PetscInt n = 0;
    PetscCall(VecGetLocalSize(vector, &n));
    PetscCall(VecGetArrayRead(vector, &data_));
    vector_ = vector;
    size_ = static_cast<std::size_t>(n);
    return success;
  }
  ReadArray() = default;
  ReadArray(const ReadArray&) = delete;
  ReadArray& operator=(const ReadArray&) = delete;
  ~ReadArray() {
    if (vector_ != nullptr) static_cast<void>(VecRestoreArrayRead(vector_, &data_));
  }
  std::span<const double> span() const { return {data_, size_}; }

 private:
  Vec vector_ = nullptr;
  const PetscScalar* data_ = nullptr;
  std::size_t size_ = 0;
};

/// The same, to be written to.
class WriteArray {
 public:
  PetscErrorCode open(Vec vector) {
    PetscInt n = 0;
    PetscCall(VecGetLocalSize(vector, &n));
    PetscCall(VecGetArray(vector, &data_));
    vector_ = vector;
    size_ = static_cast<std::size_t>(n);
    return success;
  }
  WriteArray() = default;
  WriteArray(const WriteArray&) = delete;
  WriteArray& operator=(const WriteArray&) = delete;
  ~WriteArray() {
    if (vector_ != nullptr) static_cast<void>(VecRestoreArray(vector_, &data_));
  }
  std::span<double> span() const { return {data_, size_}; }

 private:
  Vec vector_ = nullptr;
  PetscScalar* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace ayatori::petsc
