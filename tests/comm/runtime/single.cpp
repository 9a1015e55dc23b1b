#include "ayatori/comm/runtime/single.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "ayatori/comm/runtime/mpi.h"

namespace ayatori::comm {
namespace {

/// Calls of the transport of one process, whatever is in use.
class Single : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(mpi.Comm_dup(constants.comm_world, &comm), MPI_SUCCESS); }
  void TearDown() override { EXPECT_EQ(mpi.Comm_free(&comm), MPI_SUCCESS); }

  int send(double value, int tag) { return mpi.Send(&value, 1, constants.float64, 0, tag, comm); }
  int receive(double& value, int tag) {
    return mpi.Recv(&value, 1, constants.float64, 0, tag, comm, constants.status_ignore);
  }
  static std::string text_of(int code) {
    std::array<char, MPI_MAX_ERROR_STRING> text{};
    int length = 0;
    mpi.Error_string(code, text.data(), &length);
    return {text.data(), static_cast<std::size_t>(length)};
  }

  static inline const Functions& mpi = single_transport().functions;
  static inline const Constants& constants = single_transport().constants;
  MPI_Comm comm = nullptr;
};

TEST_F(Single, MessagesOfATagArriveInTheirOrderAndOthersStay) {
  double got = 0;
  ASSERT_EQ(send(1, 7), MPI_SUCCESS);
  ASSERT_EQ(send(2, 8), MPI_SUCCESS);
  ASSERT_EQ(send(3, 7), MPI_SUCCESS);
  for (const auto& [tag, value] : {std::pair{7, 1.0}, {7, 3.0}, {8, 2.0}}) {
    ASSERT_EQ(receive(got, tag), MPI_SUCCESS);
    EXPECT_EQ(got, value);
  }
}

TEST_F(Single, MessagesOfAnotherCommunicatorAreNotSeen) {
  MPI_Comm other = nullptr;
  ASSERT_EQ(mpi.Comm_dup(comm, &other), MPI_SUCCESS);
  ASSERT_NE(other, comm);
  ASSERT_EQ(send(1, 7), MPI_SUCCESS);
  int found = -1;
  mpi.Iprobe(0, 7, other, &found, constants.status_ignore);
  EXPECT_EQ(found, 0);
  mpi.Iprobe(0, 7, comm, &found, constants.status_ignore);
  EXPECT_EQ(found, 1);
  double got = 0;
  EXPECT_EQ(receive(got, 7), MPI_SUCCESS);
  EXPECT_EQ(mpi.Comm_free(&other), MPI_SUCCESS);
  EXPECT_EQ(other, constants.comm_null);
}

TEST_F(Single, WhatWouldWaitForEverIsAnError) {
  double got = 0;
  const int code = receive(got, 7);
  EXPECT_NE(code, MPI_SUCCESS);
  EXPECT_NE(text_of(code).find("nobody sends"), std::string::npos);
  MPI_Request request = constants.request_null;
  ASSERT_EQ(mpi.Irecv(&got, 1, constants.float64, 0, 7, comm, &request), MPI_SUCCESS);
  int done = -1;
  EXPECT_EQ(mpi.Test(&request, &done, constants.status_ignore), MPI_SUCCESS);
  EXPECT_EQ(done, 0);
  EXPECT_EQ(mpi.Wait(&request, constants.status_ignore), code);
  ASSERT_EQ(send(5, 7), MPI_SUCCESS);  // the first receive is gone, and takes nothing from the second
  EXPECT_EQ(mpi.Wait(&request, constants.status_ignore), MPI_SUCCESS);
  EXPECT_EQ(request, constants.request_null);
  EXPECT_EQ(got, 5);
}

TEST_F(Single, MessagesThatAreTooLongAreCutWithAnError) {
  const std::array<double, 2> sent{1, 2};
  std::array<double, 2> got{-1, -1};
  ASSERT_EQ(mpi.Send(sent.data(), 2, constants.float64, 0, 7, comm), MPI_SUCCESS);
  const int code = mpi.Recv(got.data(), 1, constants.float64, 0, 7, comm, constants.status_ignore);
  EXPECT_NE(text_of(code).find("longer than the buffer"), std::string::npos);
  EXPECT_EQ(got, (std::array<double, 2>{1, -1}));
}

TEST_F(Single, PersistentRequestsAreStartedAgain) {
  double sent = 0;
  double got = 0;
  std::array<MPI_Request, 2> requests{};
  ASSERT_EQ(mpi.Recv_init(&got, 1, constants.float64, 0, 7, comm, requests.data()), MPI_SUCCESS);
  ASSERT_EQ(mpi.Send_init(&sent, 1, constants.float64, 0, 7, comm, requests.data() + 1), MPI_SUCCESS);
  EXPECT_EQ(mpi.Waitall(2, requests.data(), constants.status_ignore), MPI_SUCCESS);  // none is active
  for (sent = 1; sent < 4; ++sent) {
    ASSERT_EQ(mpi.Startall(2, requests.data()), MPI_SUCCESS);
    EXPECT_NE(mpi.Startall(2, requests.data()), MPI_SUCCESS);
    ASSERT_EQ(mpi.Waitall(2, requests.data(), constants.status_ignore), MPI_SUCCESS);
    EXPECT_EQ(got, sent);
  }
  for (MPI_Request& request : requests) {
    EXPECT_EQ(mpi.Request_free(&request), MPI_SUCCESS);
    EXPECT_EQ(request, constants.request_null);
  }
}

TEST_F(Single, AnyOfThoseThatAreDone) {
  double got = 0;
  const double sent = 3;
  std::array<MPI_Request, 4> requests{constants.request_null, nullptr, nullptr, nullptr};
  ASSERT_EQ(mpi.Irecv(&got, 1, constants.float64, 0, 7, comm, &requests[1]), MPI_SUCCESS);
  ASSERT_EQ(mpi.Isend(&sent, 1, constants.float64, 0, 8, comm, &requests[2]), MPI_SUCCESS);
  ASSERT_EQ(mpi.Isend(&sent, 1, constants.float64, 0, 8, comm, &requests[3]), MPI_SUCCESS);
  for (const int expected : {2, 3}) {
    int index = -1;
    ASSERT_EQ(mpi.Waitany(4, requests.data(), &index, constants.status_ignore), MPI_SUCCESS);
    EXPECT_EQ(index, expected);
  }
  ASSERT_EQ(send(4, 7), MPI_SUCCESS);
  int index = -1;
  ASSERT_EQ(mpi.Waitany(4, requests.data(), &index, constants.status_ignore), MPI_SUCCESS);
  EXPECT_EQ(index, 1);
  EXPECT_EQ(got, 4);
  ASSERT_EQ(mpi.Waitany(4, requests.data(), &index, constants.status_ignore), MPI_SUCCESS);
  EXPECT_EQ(index, constants.undefined);
}

TEST_F(Single, WindowsAreZeroAtFirstAndHaveAnEnd) {
  MPI_Win window = nullptr;
  double* memory = nullptr;
  ASSERT_EQ(mpi.Win_allocate(2 * sizeof(double), sizeof(double), constants.info_null, comm,
                             static_cast<void*>(&memory), &window),
            MPI_SUCCESS);
  const double value = 6;
  const auto put = [&](MPI_Aint place) {
    return mpi.Put(&value, 1, constants.float64, 0, place, 1, constants.float64, window);
  };
  EXPECT_EQ(put(1), MPI_SUCCESS);
  EXPECT_EQ(memory[0], 0);
  EXPECT_EQ(memory[1], 6);
  EXPECT_NE(put(2), MPI_SUCCESS);
  EXPECT_NE(put(-1), MPI_SUCCESS);
  EXPECT_EQ(mpi.Win_free(&window), MPI_SUCCESS);
  EXPECT_EQ(window, constants.win_null);
  EXPECT_NE(mpi.Win_sync(window), MPI_SUCCESS);
}

TEST_F(Single, AttributesGoWithTheirCommunicatorTheYoungestFirst) {
  static std::vector<std::intptr_t> removed;
  removed.clear();
  const auto remove = [](MPI_Comm, int, void* value, void*) {
    removed.push_back(reinterpret_cast<std::intptr_t>(value));
    return MPI_SUCCESS;
  };
  MPI_Comm other = nullptr;
  ASSERT_EQ(mpi.Comm_dup(comm, &other), MPI_SUCCESS);
  int key = constants.keyval_invalid;
  ASSERT_EQ(mpi.Comm_create_keyval(constants.no_copy, remove, &key, nullptr), MPI_SUCCESS);
  for (const std::intptr_t value : {1, 2})
    ASSERT_EQ(mpi.Comm_set_attr(other, key, reinterpret_cast<void*>(value)), MPI_SUCCESS);  // NOLINT
  ASSERT_EQ(mpi.Comm_free_keyval(&key), MPI_SUCCESS);
  EXPECT_EQ(key, constants.keyval_invalid);
  ASSERT_EQ(mpi.Comm_free(&other), MPI_SUCCESS);
  EXPECT_EQ(removed, (std::vector<std::intptr_t>{2, 1}));
}

TEST_F(Single, WrongArgumentsAreErrors) {
  double value = 0;
  EXPECT_EQ(mpi.Send(&value, 1, constants.float64, 1, 7, comm), MPI_ERR_RANK);
  EXPECT_NE(mpi.Send(&value, -1, constants.float64, 0, 7, comm), MPI_SUCCESS);
  EXPECT_NE(mpi.Send(&value, 1, nullptr, 0, 7, comm), MPI_SUCCESS);
  EXPECT_NE(mpi.Send(&value, 1, constants.float64, 0, 7, constants.comm_null), MPI_SUCCESS);
  EXPECT_NE(mpi.Bcast(&value, 1, constants.float64, 1, comm), MPI_SUCCESS);
  EXPECT_NE(mpi.Allreduce(constants.in_place, &value, 1, constants.float64, constants.bitwise_or, comm),
            MPI_SUCCESS);
  EXPECT_NE(mpi.Barrier(constants.comm_null), MPI_SUCCESS);
  MPI_Comm world = constants.comm_world;
  EXPECT_NE(mpi.Comm_free(&world), MPI_SUCCESS);
}

}  // namespace
}  // namespace ayatori::comm
