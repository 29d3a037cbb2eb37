#include "place/wire/channel.h"

#include <array>
#include <atomic>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <unistd.h>

#include "place/channel_ends.h"

namespace mynah::place {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::ChannelEnds;
using test::RawHeader;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

std::string text_of(const Message& message) {
  return {reinterpret_cast<const char*>(message.bytes.data()), message.bytes.size()};
}

TEST(Channel, MessagesPassBothWays) {
  ChannelEnds ends = ChannelEnds::make();
  ASSERT_TRUE(ends.ours.send(7, 3, bytes_of("a question")));
  const auto question = ends.theirs.receive(std::nullopt);
  ASSERT_TRUE(question && *question);
  EXPECT_EQ((*question)->request, 7U);
  EXPECT_EQ((*question)->kind, 3U);
  EXPECT_EQ(text_of(**question), "a question");
  ASSERT_TRUE(ends.theirs.send(7, 1, {}));
  const auto answer = ends.ours.receive(std::nullopt);
  ASSERT_TRUE(answer && *answer);
  EXPECT_TRUE((*answer)->bytes.empty());
}

TEST(Channel, MessagesLargerThanTheSegmentMakeItGrow) {
  ChannelEnds ends = ChannelEnds::make(10);
  for (const size_t size : {size_t{11}, size_t{3} << 20, size_t{5}, (size_t{3} << 20) + 1}) {
    std::string text(size, 'x');
    text.back() = 'y';
    ASSERT_TRUE(ends.ours.send(1, 1, bytes_of(text)));
    const auto message = ends.theirs.receive(std::nullopt);
    ASSERT_TRUE(message && *message) << message.error().message;
    EXPECT_TRUE(text_of(**message) == text) << size;
  }
}

TEST(Channel, TheSendersUrgencyAndDescriptorsComeAlong) {
  for (const Descriptors wanted : {Descriptors::Taken, Descriptors::Refused}) {
    ChannelEnds ends = ChannelEnds::make(4096, SIZE_MAX, wanted);
    int pipe[2] = {-1, -1};
    ASSERT_EQ(::pipe2(pipe, O_CLOEXEC), 0);
    UniqueFd reads(pipe[0]);
    UniqueFd writes(pipe[1]);
    const UrgencyScope urgent(Urgency::Interactive);
    ASSERT_TRUE(ends.ours.send_written(1, 1, 0, std::array{writes.get()}));
    writes.reset();
    {
      const auto message = ends.theirs.receive(std::nullopt);
      ASSERT_TRUE(message && *message);
      EXPECT_EQ((*message)->urgency, Urgency::Interactive);
      EXPECT_EQ((*message)->descriptors.size(), wanted == Descriptors::Taken ? 1U : 0U);
      for (const UniqueFd& copy : (*message)->descriptors) {
        EXPECT_EQ(::write(copy.get(), "x", 1), 1);
      }
    }
    char letter = 0;  // then the end: nobody has the other end any more
    EXPECT_EQ(::read(reads.get(), &letter, 1), wanted == Descriptors::Taken ? 1 : 0);
    EXPECT_EQ(::read(reads.get(), &letter, 1), 0);
    ASSERT_TRUE(ends.ours.send(2, 1, {}));
    const auto next = ends.theirs.receive(std::nullopt);
    ASSERT_TRUE(next && *next);
    EXPECT_TRUE((*next)->descriptors.empty());
  }
}

TEST(Channel, NothingComesWithinTheLimit) {
  ChannelEnds ends = ChannelEnds::make();
  EXPECT_EQ(ends.ours.receive(milliseconds(1)).value(), std::nullopt);
}

TEST(Channel, TheOtherSideHasGone) {
  ChannelEnds ends = ChannelEnds::make();
  std::optional<Channel> theirs(std::move(ends.theirs));
  ASSERT_TRUE(theirs->send(1, 1, bytes_of("the last word")));
  theirs.reset();
  const auto last = ends.ours.receive(std::nullopt);
  ASSERT_TRUE(last && *last) << "what was sent before is heard";
  EXPECT_EQ(text_of(**last), "the last word");
  const auto gone = ends.ours.receive(std::nullopt);
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::Io);
  // And no signal ends this process.
  const Status sent = ends.ours.send(2, 1, bytes_of("hello"));
  ASSERT_FALSE(sent);
  EXPECT_EQ(sent.error().code, ErrorCode::Io);
}

// What ours answers to this on its socket.
ErrorCode code_of(const void* packet, size_t size, size_t most = SIZE_MAX) {
  ChannelEnds ends = ChannelEnds::make(4096, most);
  EXPECT_EQ(::send(ends.theirs.socket(), packet, size, 0), static_cast<ssize_t>(size));
  const auto message = ends.ours.receive(std::nullopt);
  EXPECT_FALSE(message);
  return message ? ErrorCode::Usage : message.error().code;
}

TEST(Channel, OtherBytesAreNoMessage) {
  const RawHeader good;
  for (size_t size = 1; size < sizeof good; ++size) {
    EXPECT_EQ(code_of(&good, size), ErrorCode::InvalidInput) << size;
  }

  struct {
    RawHeader header;
    char more = 0;
  } const longer;

  EXPECT_EQ(code_of(&longer, sizeof longer), ErrorCode::InvalidInput);
  const RawHeader unmarked{.mark = 0};
  EXPECT_EQ(code_of(&unmarked, sizeof unmarked), ErrorCode::InvalidInput);
}

TEST(Channel, ALengthThatIsNotThereIsNotBelieved) {
  for (const uint64_t bytes : {uint64_t{4097}, uint64_t{1} << 40, ~uint64_t{0}}) {
    const RawHeader header{.bytes = bytes};
    EXPECT_EQ(code_of(&header, sizeof header), ErrorCode::InvalidInput) << bytes;
  }
  const RawHeader header{.bytes = 101};
  EXPECT_EQ(code_of(&header, sizeof header, 100), ErrorCode::InvalidInput);
}

TEST(Channel, SignalsInterruptNothing) {
  struct sigaction action{};
  action.sa_handler = [](int) {};  // without SA_RESTART: a call that waits returns
  struct sigaction before{};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, &before), 0);
  ChannelEnds ends = ChannelEnds::make();
  std::atomic<int> heard{0};
  constexpr int kMessages = 50;
  std::jthread listener([&] {
    for (int i = 0; i < kMessages; ++i) {
      const auto message = ends.theirs.receive(seconds(60));
      if (!message || !*message || !ends.theirs.send((*message)->request, 1, {})) {
        return;
      }
      ++heard;
    }
  });
  for (int i = 1; i <= kMessages; ++i) {
    for (int k = 0; k < 20; ++k) {
      ::pthread_kill(listener.native_handle(), SIGUSR1);
    }
    ASSERT_TRUE(ends.ours.send(static_cast<uint64_t>(i), 1, bytes_of("x")));
    const auto answer = ends.ours.receive(seconds(60));
    ASSERT_TRUE(answer && *answer);
    EXPECT_EQ((*answer)->request, static_cast<uint64_t>(i));
  }
  listener.join();
  EXPECT_EQ(heard, kMessages);
  ::sigaction(SIGUSR1, &before, nullptr);
}

}  // namespace
}  // namespace mynah::place
