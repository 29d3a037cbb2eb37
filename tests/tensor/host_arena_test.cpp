// HostArena: blocks do not overlap, come back as one, and hold what the fullest moment needed.
#include "tensor/host_arena.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace mynah {
namespace {

constexpr size_t kPage = 4096;

struct Block {
  std::byte* data = nullptr;
  size_t bytes = 0;
};

TEST(HostArena, GivesBlocksThatDoNotOverlapInAnyOrderOfComingAndGoing) {
  EXPECT_TRUE(rc::check([] {
    HostArena arena;
    std::vector<Block> blocks;
    const auto steps =
        *rc::gen::container<std::vector<size_t>>(rc::gen::inRange<size_t>(0, size_t{3} << 20U));
    for (const size_t step : steps) {
      if (step % 3 == 0 && !blocks.empty()) {
        const auto which = blocks.begin() + static_cast<ptrdiff_t>(step / 3 % blocks.size());
        arena.give(which->data, which->bytes);
        blocks.erase(which);
      } else {
        blocks.push_back({arena.take(step + 1), step + 1});
        RC_ASSERT(blocks.back().data != nullptr);
      }
    }
    std::ranges::sort(blocks, {}, &Block::data);
    for (size_t i = 1; i < blocks.size(); ++i) {
      RC_ASSERT(blocks[i - 1].data + HostArena::rounded(blocks[i - 1].bytes) <= blocks[i].data);
    }
    for (const Block& block : blocks) {
      arena.give(block.data, block.bytes);
    }
    arena.trim();
    RC_ASSERT(arena.bytes_held() == 0U);
  }));
}

TEST(HostArena, ServesOneSizeFromTheRoomOfOthers) {
  HostArena arena;
  std::byte* const a = arena.take(3 * kPage);
  std::byte* const b = arena.take(5 * kPage);
  arena.give(a, 3 * kPage);
  arena.give(b, 5 * kPage);
  EXPECT_EQ(arena.take(8 * kPage), a);
  EXPECT_EQ(arena.bytes_held(), 8 * kPage);
  EXPECT_EQ(arena.growths(), 2);
  arena.give(a, 8 * kPage);
}

TEST(HostArena, TakesTheLowestRoomThatFits) {
  HostArena arena;
  std::byte* const a = arena.take(2 * kPage);
  std::byte* const b = arena.take(kPage);
  std::byte* const c = arena.take(4 * kPage);
  std::byte* const d = arena.take(kPage);
  arena.give(a, 2 * kPage);
  arena.give(c, 4 * kPage);
  EXPECT_EQ(arena.take(3 * kPage), c);
  EXPECT_EQ(arena.take(1), a);
  arena.give(a, 1);
  arena.give(b, kPage);
  arena.give(c, 3 * kPage);
  arena.give(d, kPage);
}

TEST(HostArena, KeepsWhatIsInUseThroughATrim) {
  HostArena arena;
  std::byte* const low = arena.take(2 * kPage);
  std::byte* const used = arena.take(kPage);
  std::byte* const high = arena.take(6 * kPage);
  std::memset(used, 7, kPage);
  arena.give(low, 2 * kPage);
  arena.give(high, 6 * kPage);
  EXPECT_EQ(arena.bytes_held(), 9 * kPage);
  arena.trim();
  EXPECT_EQ(arena.bytes_held(), 3 * kPage);
  EXPECT_EQ(used[kPage - 1], std::byte{7});
  arena.give(used, kPage);
}

TEST(HostArena, HasRoomForABlockLargerThanARegion) {
  HostArena arena;
  constexpr size_t kBytes = size_t{700} << 20U;
  std::byte* const data = arena.take(kBytes);
  ASSERT_NE(data, nullptr);
  data[kBytes - 1] = std::byte{1};
  arena.give(data, kBytes);
}

}  // namespace
}  // namespace mynah
