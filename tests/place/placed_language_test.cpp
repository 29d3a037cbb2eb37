// A language model where it is placed: what is written goes on elsewhere when its device dies, and
// what is let go of is read again.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "chat/golden_language.h"
#include "place/file_opens.h"
#include "place/made_up_placer.h"
#include "place/placer.h"

namespace mynah::place {
namespace {

constexpr const char* kModel = MYNAH_SOURCE_DIR "/tests/models/llama/golden/llama.gguf";

const std::vector<int32_t>& prompt() {
  static const std::vector<int32_t> kPrompt = {1, 17, 30, 5, 9, 22, 11};
  return kPrompt;
}

// Adds tokens to a text and has what follows chosen, the likeliest, so many times.
std::vector<int32_t> write(LanguageModel::Session& session, uint64_t text,
                           std::vector<int32_t> tokens, int64_t begin, int count) {
  std::vector<int32_t> written;
  for (int i = 0; i < count; ++i) {
    const StepRequest request{
        .forks = {},
        .forgotten = {},
        .steps = {{.text = text, .begin = begin, .tokens = tokens, .wishes = {TokenWish{}}}}};
    const auto chosen = session.step(request);
    if (!chosen) {
      ADD_FAILURE() << chosen.error().message;
      break;
    }
    begin += std::ssize(tokens);
    tokens = {chosen->front().token};
    written.push_back(tokens.front());
  }
  return written;
}

std::vector<int32_t> joined(std::vector<int32_t> first, const std::vector<int32_t>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

class PlacedLanguage : public ::testing::Test {
 protected:
  [[nodiscard]] PlacerOptions placer(const std::string& devices) const {
    return test::placer_options(machine_, devices);
  }

  // What a start does: the file is read for its words, and the model placed.
  [[nodiscard]] Result<std::shared_ptr<const LanguageModel>> opened(Placer& placer) const {
    MYNAH_TRY(const auto read, open_writing(file_.path));
    return placer.language(file_, read);
  }

  mynah::test::MadeUpMachine machine_;
  LanguageFile file_{.path = kModel};
};

TEST_F(PlacedLanguage, WritesOnEachDeviceWhatThatDeviceWrites) {
  Placer here(placer("cpu"));
  const auto model = opened(here);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ((*model)->facts().architecture, "llama");
  const auto session = (*model)->session();
  const auto written = write(*session, 1, prompt(), 0, 12);
  EXPECT_EQ(written.size(), 12U);
  Placer card(placer("simt:0"));
  const auto there = opened(card);
  ASSERT_TRUE(there) << there.error().message;
  EXPECT_EQ(card.device(card.id_of(file_)), "simt:0");
  const auto far = (*there)->session();
  EXPECT_EQ(write(*far, 1, prompt(), 0, 12).size(), 12U);
}

TEST_F(PlacedLanguage, AReplyWhoseDeviceDiesGoesOnElsewhere) {
  std::vector<int32_t> whole;
  {
    Placer card(placer("simt:0"));
    const auto model = opened(card);
    ASSERT_TRUE(model) << model.error().message;
    whole = write(*(*model)->session(), 1, prompt(), 0, 12);
  }
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::Crash, .call = 5}};
  Placer failing(options);
  const auto model = opened(failing);
  ASSERT_TRUE(model) << model.error().message;
  const auto written = write(*(*model)->session(), 1, prompt(), 0, 12);
  ASSERT_EQ(written.size(), 12U);
  const auto moves = failing.state().openings().moves();
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(failing.device(failing.id_of(file_)), "cpu");

  // What was told before is as the device had it, and the rest as the processor goes on with that.
  const std::vector<int32_t> before(written.begin(), written.begin() + 4);
  EXPECT_EQ(before, std::vector<int32_t>(whole.begin(), whole.begin() + 4));
  Placer here(placer("cpu"));
  const auto processor = opened(here);
  ASSERT_TRUE(processor);
  EXPECT_EQ(joined(before, write(*(*processor)->session(), 1, joined(prompt(), before), 0, 8)),
            written);
}

// Several texts, of which some were forked and cut: all of them are there on the next device.
TEST_F(PlacedLanguage, AllTextsOfASessionMove) {
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::Crash, .call = 3}};
  Placer failing(options);
  const auto model = opened(failing);
  ASSERT_TRUE(model) << model.error().message;
  const auto session = (*model)->session();
  write(*session, 1, prompt(), 0, 1);
  StepRequest request{.forks = {{.from = 1, .to = 2, .length = 4}},
                      .forgotten = {},
                      .steps = {{.text = 2, .begin = 4, .tokens = {8}, .wishes = {TokenWish{}}},
                                {.text = 1, .begin = 7, .tokens = {3}, .wishes = {TokenWish{}}}}};
  ASSERT_TRUE(session->step(request));
  // The third call dies: the first text goes on where it is cut, the second where it was.
  request = {.forks = {},
             .forgotten = {},
             .steps = {{.text = 1, .begin = 6, .tokens = {4, 2}, .wishes = {TokenWish{}}},
                       {.text = 2, .begin = 5, .tokens = {6}, .wishes = {TokenWish{}}}}};
  const auto moved = session->step(request);
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(failing.state().openings().moves().size(), 1U);
  Placer here(placer("cpu"));
  const auto processor = opened(here);
  ASSERT_TRUE(processor);
  const auto alone = (*processor)->session();
  EXPECT_EQ(write(*alone, 1, {1, 17, 30, 5, 9, 22, 4, 2}, 0, 1), std::vector{(*moved)[0].token});
  EXPECT_EQ(write(*alone, 2, {1, 17, 30, 5, 8, 6}, 0, 1), std::vector{(*moved)[1].token});
}

// A text of many windows, one that begins as it, and one that is cut back: each is read again from
// its begin, since the next device has none of what was let go, and can go back as far as before.
TEST_F(PlacedLanguage, TextsOfManyWindowsMove) {
  file_.path = mynah::test::write_golden_language("gemma3", 2048);
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::Crash, .call = 5}};
  Placer failing(options);
  const auto model = opened(failing);
  ASSERT_TRUE(model) << model.error().message;
  ASSERT_EQ((*model)->facts().rewinds, 256);
  const auto session = (*model)->session();
  std::vector<int32_t> tokens;
  for (int32_t i = 0; i < 1200; ++i) {
    tokens.push_back(i * i % static_cast<int32_t>((*model)->facts().vocabulary));
  }
  const auto piece = [&](int64_t begin, int64_t end) {
    return std::vector<int32_t>(tokens.begin() + begin, tokens.begin() + end);
  };
  for (const int64_t begin : {0, 400}) {
    write(*session, 1, piece(begin, begin + 400), begin, 1);
  }
  StepRequest request{
      .forks = {{.from = 1, .to = 2, .length = 600}},
      .forgotten = {},
      .steps = {{.text = 1, .begin = 800, .tokens = piece(800, 1200), .wishes = {TokenWish{}}}}};
  ASSERT_TRUE(session->step(request));
  // Before it dies, and when it did.
  for (const int64_t end : {1000, 960}) {
    request = {.forks = {},
               .forgotten = {},
               .steps = {{.text = 1, .begin = end, .tokens = {4, 2}, .wishes = {TokenWish{}}},
                         {.text = 2, .begin = 600, .tokens = {6}, .wishes = {TokenWish{}}}}};
    const auto chosen = session->step(request);
    ASSERT_TRUE(chosen) << chosen.error().message;
    const bool moved = !failing.state().openings().moves().empty();
    EXPECT_EQ(moved, end == 960);
    Placer other(placer(moved ? "cpu" : "simt:0"));
    const auto alone = opened(other);
    ASSERT_TRUE(alone);
    const auto there = (*alone)->session();
    EXPECT_EQ(write(*there, 1, joined(piece(0, end), {4, 2}), 0, 1),
              std::vector{(*chosen)[0].token});
    EXPECT_EQ(write(*there, 2, joined(piece(0, 600), {6}), 0, 1), std::vector{(*chosen)[1].token});
  }
  // It went back to 960 of 1002; what it had before, 1200, is nothing that this device knows of.
  request.steps = {{.text = 1, .begin = 710, .tokens = {4}, .wishes = {TokenWish{}}}};
  ASSERT_TRUE(session->step(request)) << "read again where it cannot go back";
}

TEST_F(PlacedLanguage, WhatIsLetGoOfIsReadAgain) {
  Placer here(placer("cpu"));
  const auto model = opened(here);
  ASSERT_TRUE(model) << model.error().message;
  const auto whole = write(*(*model)->session(), 1, prompt(), 0, 10);
  const auto session = (*model)->session();
  const auto before = write(*session, 1, prompt(), 0, 5);
  for (const ModelHooks& hooks : here.state().openings().hooks()) {
    hooks.unload_after({});
  }
  EXPECT_TRUE(here.state().openings().open_places().empty());
  const auto after = write(*session, 1, {before.back()}, std::ssize(prompt()) + 4, 5);
  EXPECT_EQ(joined(before, after), whole);
}

TEST_F(PlacedLanguage, AStartReadsItsFileOnce) {
  Placer here(placer("cpu"));
  const test::FileOpens opens(file_.path);
  const auto model = opened(here);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(opens.count(), 1U) << "header, words and weights";
}

TEST_F(PlacedLanguage, AFileThatIsNoneIsRefused) {
  Placer here(placer("cpu"));
  file_.path = machine_.root / "none.gguf";
  ASSERT_FALSE(opened(here));
}

// The plan of what a placer has open.
StagePlan plan_of(const Placer& placer, const LanguageFile& file) {
  const auto choice = placer.state().openings().choice(placer.id_of(file), kLlmStage);
  EXPECT_TRUE(choice);
  return choice ? choice->plan : StagePlan();
}

TEST_F(PlacedLanguage, WhereMemoryIsShortTextsAreShorter) {
  StagePlan whole;
  {
    Placer card(placer("simt:0"));
    ASSERT_TRUE(opened(card));
    whole = plan_of(card, file_);
    EXPECT_GT(whole.bytes, whole.grown_bytes);
  }
  PlacerOptions options = placer("simt:0");
  options.max_vram = whole.bytes - whole.grown_bytes / 4;
  file_.least_context = whole.units / 4;
  {
    Placer card(options);
    const auto model = opened(card);
    ASSERT_TRUE(model) << model.error().message;
    EXPECT_EQ((*model)->facts().context, whole.units / 2);
    EXPECT_EQ(plan_of(card, file_).units, whole.units / 2);
    const PlacementReport told = card.report();
    ASSERT_TRUE(told.stages[0].planned);
    EXPECT_EQ(told.stages[0].planned->context, whole.units / 2);
    EXPECT_TRUE(told.stages[0].why.contains("for want of memory")) << told.stages[0].why;
    // What it was opened with it keeps.
    EXPECT_EQ(card.state().context().growing(card.id_of(file_), kLlmStage)->units,
              std::vector<int64_t>{whole.units / 2});
  }
  file_.least_context = 0;  // a context that was asked for
  {
    Placer card(options);
    const auto model = opened(card);
    ASSERT_FALSE(model);
    EXPECT_TRUE(model.error().message.contains("--context")) << model.error().message;
  }
  options.request = parse_device_request("simt:0,cpu").value();
  Placer either(options);
  const auto model = opened(either);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(either.device(either.id_of(file_)), "cpu");
  EXPECT_EQ((*model)->facts().context, whole.units);
}

// What is remembered of texts is let go of, and read again: the device is not left for that.
TEST_F(PlacedLanguage, MemoryThatRunsOutIsMadeRoomIn) {
  std::vector<int32_t> whole;
  {
    Placer card(placer("simt:0"));
    const auto model = opened(card);
    ASSERT_TRUE(model) << model.error().message;
    whole = write(*(*model)->session(), 1, prompt(), 0, 12);
  }
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::OutOfMemory, .call = 5}};
  Placer full(options);
  const auto model = opened(full);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(write(*(*model)->session(), 1, prompt(), 0, 12), whole);
  const auto moves = full.state().openings().moves();
  ASSERT_EQ(moves.size(), 1U);
  EXPECT_EQ(moves[0].from, "simt:0");
  EXPECT_EQ(moves[0].to, "simt:0");
  EXPECT_TRUE(moves[0].reason.contains("memory is full")) << moves[0].reason;
}

// A device that is full again soon afterwards has no room for the texts.
TEST_F(PlacedLanguage, ADeviceThatStaysFullIsLeft) {
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::OutOfMemory, .call = 3},
                    {.stage = kLlmStage, .kind = FaultKind::OutOfMemory, .call = 6}};
  Placer full(options);
  const auto model = opened(full);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(write(*(*model)->session(), 1, prompt(), 0, 8).size(), 8U);
  const auto moves = full.state().openings().moves();
  ASSERT_EQ(moves.size(), 2U);
  EXPECT_EQ(moves[0].to, "simt:0");
  EXPECT_EQ(moves[1].to, "cpu");
}

// Where there is nothing to let go of it goes elsewhere.
TEST_F(PlacedLanguage, ADeviceThatIsFullFromTheStartIsLeft) {
  PlacerOptions options = placer("simt:0,cpu");
  options.faults = {{.stage = kLlmStage, .kind = FaultKind::OutOfMemory, .call = 1}};
  Placer full(options);
  const auto model = opened(full);
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(write(*(*model)->session(), 1, prompt(), 0, 4).size(), 4U);
  ASSERT_EQ(full.state().openings().moves().size(), 1U);
  EXPECT_EQ(full.device(full.id_of(file_)), "cpu");
}

}  // namespace
}  // namespace mynah::place
