// Both ends of a channel in one process, and what a test may put on its socket itself.
#pragma once

#include <cstdint>
#include <utility>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "place/wire/channel.h"

namespace mynah::place::test {

// As place/wire/channel.cpp writes it.
struct RawHeader {
  uint64_t request = 1;
  uint64_t bytes = 0;
  uint32_t kind = 1;
  uint32_t mark = 0x6d796e61;
  uint32_t urgency = 0;
  uint32_t nothing = 0;
};

struct ChannelEnds {
  Channel ours;
  Channel theirs;

  static ChannelEnds make(size_t segment = 4096, size_t most = SIZE_MAX,
                          Descriptors theirs = Descriptors::Refused) {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    SharedMemory requests = *SharedMemory::create("mynah-test", segment);
    SharedMemory answers = *SharedMemory::create("mynah-test", segment);
    const auto again = [](const SharedMemory& memory) {
      return *SharedMemory::attach(UniqueFd(::fcntl(memory.descriptor(), F_DUPFD_CLOEXEC, 0)));
    };
    SharedMemory their_requests = again(requests);
    SharedMemory their_answers = again(answers);
    return {.ours = {UniqueFd(ends[0]), std::move(requests), std::move(answers), most},
            .theirs = {UniqueFd(ends[1]), std::move(their_answers), std::move(their_requests),
                       SIZE_MAX, theirs}};
  }
};

}  // namespace mynah::place::test
