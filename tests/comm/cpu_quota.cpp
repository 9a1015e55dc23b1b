#include "ayatori/comm/cpu_quota.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ayatori::comm {
namespace {

namespace fs = std::filesystem;

/// A folder with the files of proc and sys that control groups have.
class CpuQuotaFiles : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "ayatori-test.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& content) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << content;
  }
  /// Version 2 at its usual place: `group` of the process, where `mounted` is what is seen.
  void unified(const std::string& group, const std::string& mounted = "/") const {
    write("proc/self/cgroup", "0::" + group + "\n");
    write("proc/self/mountinfo",
          "22 1 0:21 / /proc rw - proc proc rw\n"
          "31 23 0:28 " +
              mounted + " /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw\n");
  }
  double processors() const { return find_cpu_quota(root_.string()).processors; }

  fs::path root_;
};

TEST_F(CpuQuotaFiles, NoFilesAreNoLimit) {
  EXPECT_EQ(processors(), 0);
  unified("/job");
  EXPECT_EQ(processors(), 0);
  write("sys/fs/cgroup/job/cpu.max", "max 100000\n");
  EXPECT_EQ(processors(), 0);
}

TEST_F(CpuQuotaFiles, TheTightestOfAllGroupsCounts) {
  unified("/user/job/step");
  write("sys/fs/cgroup/user/job/cpu.max", "400000 100000\n");
  EXPECT_EQ(processors(), 4);
  write("sys/fs/cgroup/user/job/step/cpu.max", "150000 100000\n");
  EXPECT_EQ(processors(), 1.5);
  const auto group = find_cpu_quota(root_.string()).group;
  write("sys/fs/cgroup/user/cpu.max", "50000 50000\n");
  EXPECT_EQ(processors(), 1);
  EXPECT_NE(find_cpu_quota(root_.string()).group, group) << "another one shares it";
}

TEST_F(CpuQuotaFiles, InAContainerWhatIsMountedIsTheGroup) {
  write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  for (const auto& [group, mounted] :
       {std::pair{"/", "/"}, {"/docker/7", "/docker/7"}, {"/elsewhere", "/docker/7"}, {"/../../job", "/"}}) {
    unified(group, mounted);
    EXPECT_EQ(processors(), 2) << group;
  }
}

TEST_F(CpuQuotaFiles, VersionOneIsReadToo) {
  write("proc/self/cgroup", "5:devices:/\n3:cpuset:/x\n2:cpu,cpuacct:/job\n0::/\n");
  write("proc/self/mountinfo",
        "33 32 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
        "34 32 0:31 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors(), 0);
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "300000\n");
  write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(processors(), 3);
}

TEST_F(CpuQuotaFiles, NonsenseIsNoLimit) {
  unified("/job");
  for (const char* content : {"", "one 100000", "100000", "-5 100000", "100000 0", "0 100000"}) {
    write("sys/fs/cgroup/job/cpu.max", content);
    EXPECT_EQ(processors(), 0) << content;
  }
}

TEST(CpuQuota, OfThisProcessIsSensible) {
  EXPECT_GE(find_cpu_quota().processors, 0);
}

}  // namespace
}  // namespace ayatori::comm
