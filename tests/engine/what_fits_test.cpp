// What fits: rooms for language models in memory that is made up.
#include "engine/what_fits.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "chat/tiny_language.h"
#include "store/catalogue_language.h"
#include "temporary_folder.h"

namespace mynah::engine {
namespace {

constexpr uint64_t kMegabyte = 1'000'000;

// A gigabyte of weights; a token of texts takes 100 KB, with what is copied while they grow 150.
const WritingNeeds kNeeds{.memory = {.weight_bytes = 1000 * kMegabyte,
                                     .position_bytes = 100'000,
                                     .token_bytes = 100'000,
                                     .state_bytes = 0},
                          .trained_context = 40960};
constexpr uint64_t kFixed = 1000 * kMegabyte + kPromptPiece * 100'000;

place::DeviceMemory memory(std::string device, uint64_t spare) {
  constexpr uint64_t kHeadroom = 256 * kMegabyte;
  return {.device = std::move(device),
          .total_bytes = 2 * spare,
          .free_bytes = spare + kHeadroom,
          .headroom_bytes = kHeadroom};
}

int64_t context_in(uint64_t spare) {
  return room_for(kNeeds, {memory("cpu", spare)}).devices[0].context;
}

TEST(WhatFits, TellsHowManyTokensThereIsRoomFor) {
  EXPECT_EQ(context_in(kFixed + uint64_t{150'000} * 8192), 8192);
  EXPECT_EQ(context_in(kFixed + uint64_t{150'000} * 8192 - 1), 8192 - 256);
  EXPECT_EQ(context_in(kFixed + uint64_t{150'000} * 100'000), 40960);
  EXPECT_EQ(context_in(kFixed + uint64_t{150'000} * 2048), 2048);
  EXPECT_EQ(context_in(kFixed + uint64_t{150'000} * 2048 - 1), 0);
  EXPECT_EQ(context_in(0), 0);
}

// Of layers that see a window there is room for as many positions as are ever kept, and no more.
TEST(WhatFits, ALongTextTakesLittleOfWindows) {
  WritingNeeds needs = kNeeds;
  needs.memory.position_bytes = 20'000;
  needs.memory.window_bytes = 80'000;
  needs.memory.window_positions = 3000;
  const auto context = [&](uint64_t growing) {
    return room_for(needs, {memory("cpu", kFixed + growing)}).devices[0].context;
  };
  EXPECT_EQ(context(uint64_t{150'000} * 2048), 2048);
  EXPECT_EQ(context(uint64_t{150'000} * 2048 - 1), 0);
  EXPECT_EQ(context(uint64_t{150'000} * 3000 + uint64_t{30'000} * (8192 - 3000)), 8192);
  EXPECT_EQ(context(uint64_t{150'000} * 3000 + uint64_t{30'000} * (8192 - 3000) - 1), 8192 - 256);
  EXPECT_EQ(context(uint64_t{150'000} * 40960), 40960);
  EXPECT_EQ(room_for(needs, {}).bytes,
            kFixed + uint64_t{150'000} * 3000 + uint64_t{30'000} * (8192 - 3000));
}

TEST(WhatFits, SaysWhereAndWhyNot) {
  const uint64_t enough = kFixed + uint64_t{150'000} * 8192;
  WritingRoom room =
      room_for(kNeeds, {memory("cpu", enough), memory("simt:0", enough), memory("cuda:0", kFixed)});
  EXPECT_TRUE(room.fits());
  EXPECT_EQ(describe(room), "needs 2.3 GB with 8192 tokens; fits cpu (8192 tokens)");
  EXPECT_EQ(to_json(room)["room"][1]["device"].get<std::string>(), "cuda:0");
  room = room_for(kNeeds, {memory("cpu", kFixed), memory("cuda:0", 500 * kMegabyte)});
  EXPECT_FALSE(room.fits());
  EXPECT_EQ(
      describe(room),
      "needs 2.3 GB with 8192 tokens; does not fit: cpu has 1.1 GB to spare, cuda:0 has 500.0 "
      "MB to spare");
}

// The catalogue knows of each how it grows, so that nothing must be fetched to say what fits.
TEST(WhatFits, EveryLanguageModelOfTheCatalogueSaysWhatItNeeds) {
  for (const CatalogueEntry& entry : language_entries()) {
    ASSERT_TRUE(entry.writing) << entry.name;
    EXPECT_GE(entry.writing->context, 8192) << entry.name;
    // Between a small model's and that of eight thousand million weights.
    const uint64_t position_bytes = entry.writing->position_bytes + entry.writing->window_bytes;
    EXPECT_GE(position_bytes, 10'000U) << entry.name;
    EXPECT_LE(position_bytes, 200'000U) << entry.name;
    EXPECT_EQ(entry.writing->window > 0, entry.writing->window_bytes > 0) << entry.name;
    EXPECT_GE(entry.writing->token_bytes, 20'000U) << entry.name;
    EXPECT_LE(entry.writing->token_bytes, 300'000U) << entry.name;
  }
}

TEST(WhatFits, AModelThatIsHereIsAskedItself) {
  const test::TemporaryFolder folder;
  StoredModel model;
  model.family = kLanguageFamily;
  model.folder = folder.path();
  test::write_tiny_language(model.path());
  WhatFits fits({.environment = Environment({{"HOME", folder.path()}})});
  const auto room = fits.of(model);
  ASSERT_TRUE(room);
  EXPECT_EQ(room->context, test::kTinyContext);
  EXPECT_TRUE(room->fits());
  model.family = "whisper";
  EXPECT_FALSE(fits.of(model));
}

}  // namespace
}  // namespace mynah::engine
