#include "ayatori/machine/model/network_ports.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ayatori::machine {
namespace {

namespace fs = std::filesystem;

/// What the operating system shows of its network, in a folder.
class NetworkPorts : public testing::Test {
 protected:
  NetworkPorts() : root_(fs::temp_directory_path() / ("ayatori-ports-" + std::to_string(getpid()))) {}
  ~NetworkPorts() override { fs::remove_all(root_); }

  void write(const std::string& name, const std::string& text) const {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << text;
  }
  void write_devices(int moved) const {
    write("proc/net/dev",
          "Inter-|   Receive                                                |  Transmit\n"
          " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs\n"
          "    lo:  999   1 0 0 0 0 0 0   999   1 0 0 0 0 0 0\n"
          "  eth0: " +
              std::to_string(100 + moved) +
              " 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
              "  eth1:7 1 0 0 0 0 0 0 3 1 0 0 0 0 0 0\n"
              "docker0: 5 1 0 0 0 0 0 0 5 1 0 0 0 0 0 0\n"
              "  eth2: 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n");
    write("sys/class/net/eth0/operstate", "up\n");
    write("sys/class/net/eth0/speed", "10000\n");
    write("sys/class/net/eth1/speed", "-1\n");
    write("sys/class/net/eth2/operstate", "down\n");
    write("sys/class/net/docker0/bridge/forward_delay", "0\n");
  }
  std::vector<PortFigure> ports() const { return find_network_ports(root_.string()); }

 private:
  fs::path root_;
};

TEST_F(NetworkPorts, AreThoseThatLeadOut) {
  write_devices(0);
  const auto found = ports();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "eth0");
  EXPECT_EQ(found[0].bytes_per_second, 1.25e9);
  EXPECT_EQ(found[0].moved_bytes, 120);
  EXPECT_EQ(found[1].name, "eth1");
  EXPECT_EQ(found[1].bytes_per_second, 0) << "it does not say";
  EXPECT_EQ(found[1].moved_bytes, 10);
}

TEST_F(NetworkPorts, AlsoOfInfiniband) {
  write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  write("sys/class/infiniband/mlx5_0/ports/1/rate", "100 Gb/sec (4X EDR)\n");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "250\n");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "50\n");
  write("sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN\n");
  const auto found = ports();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].name, "mlx5_0/1");
  EXPECT_EQ(found[0].bytes_per_second, 12.5e9);
  EXPECT_EQ(found[0].moved_bytes, 1200) << "counted in words of four bytes";
}

TEST_F(NetworkPorts, TrafficIsADifference) {
  write_devices(0);
  const auto before = ports();
  write_devices(5000);
  const auto traffic = traffic_between(before, ports());
  ASSERT_EQ(traffic.size(), 2U);
  EXPECT_EQ(traffic[0].moved_bytes, 5000);
  EXPECT_EQ(traffic[1].moved_bytes, 0);
}

TEST_F(NetworkPorts, NothingIsKnownWhereNothingIsTold) {
  EXPECT_TRUE(ports().empty());
}

}  // namespace
}  // namespace ayatori::machine
