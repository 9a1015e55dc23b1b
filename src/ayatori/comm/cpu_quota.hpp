#pragma once

#include <cstdint>
#include <string>

namespace ayatori::comm {

/// Processor time that Linux's control groups grant this process.
struct CpuQuota {
  double processors = 0;    ///< seconds of processor time in a second; 0: as many as there are
  std::uint64_t group = 0;  ///< that has to share them, by number
};

/// The tightest limit of the group of this process and of all that it lies in (`cpu.max`, or
/// `cpu.cfs_quota_us` of version 1). `root`: a folder to look for proc and sys in.
CpuQuota find_cpu_quota(const std::string& root = "");

}  // namespace ayatori::comm
