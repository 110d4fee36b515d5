// SPDX-License-Identifier: Apache-2.0
#include "common/signals.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace reclaim {
namespace {

TEST(SignalsTest, ReturnsTheSignalThatAnotherProcessSent) {
  SignalWaiter signals;
  ASSERT_EQ(kill(getpid(), SIGINT), 0);
  EXPECT_EQ(signals.Wait(), SIGINT);
  ASSERT_EQ(kill(getpid(), SIGTERM), 0);
  EXPECT_EQ(signals.Wait(), SIGTERM);
}

TEST(SignalsTest, GivesUpAtTheTimeout) {
  SignalWaiter signals;
  EXPECT_EQ(signals.WaitFor(absl::Milliseconds(1)), std::nullopt);
}

TEST(SignalsTest, IsWokenFromAnotherThread) {
  SignalWaiter signals;
  std::thread other([] { SignalWaiter::RequestStop(); });
  EXPECT_EQ(signals.WaitFor(absl::Seconds(30)), SIGTERM);
  other.join();
}

TEST(SignalsTest, WritingToAClosedSocketIsAnError) {
  IgnoreSigpipe();
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  close(ends[1]);
  EXPECT_EQ(write(ends[0], "x", 1), -1);
  EXPECT_EQ(errno, EPIPE);
  close(ends[0]);
}

}  // namespace
}  // namespace reclaim
