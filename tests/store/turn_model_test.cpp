// Models that tell ends of turns, imported by what is in their files.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "store/families.h"
#include "store/file_sets.h"
#include "store/pull.h"
#include "store/speech_models.h"
#include "temporary_folder.h"
#include "test_paths.h"

namespace mynah {
namespace {

namespace fs = std::filesystem;

TEST(TurnModelImport, AFileOfAnyNameIsKnownByItsGraph) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "mine.onnx";
  fs::copy_file(test::source_path("tests/models/turn/golden/tiny-int8.onnx"), path);
  const Importable found = find_importable(path);
  ASSERT_EQ(found.sets.size(), 1U);
  EXPECT_EQ(found.sets.front().family, "smart-turn");
  EXPECT_EQ(found.sets.front().name, "mine");

  const Store store({.home = folder / "home", .cache = folder / "cache"});
  const auto model = import_file_set(store, found.sets.front(), false, {}, {});
  ASSERT_TRUE(model.has_value()) << model.error().message;
  EXPECT_EQ(model->family, "smart-turn");
  EXPECT_TRUE(is_for(model->family, FamilyKind::EndOfTurn));
  EXPECT_TRUE(network_of(*model).ends_with("mine.onnx")) << network_of(*model);
}

TEST(TurnModelImport, AnotherGraphIsNoneOfThem) {
  const std::string other = test::source_path("tests/fuzz/corpus/kokoro_onnx/good-lstm");
  const test::TemporaryFolder folder;
  const std::string path = folder / "smart-turn.onnx";
  fs::copy_file(other, path);
  EXPECT_TRUE(find_importable(path).sets.empty());
}

TEST(TurnModelImport, TheCataloguesIsCalledByItsFile) {
  const CatalogueEntry* const entry = find_in_catalogue("smart-turn-v3.2-cpu.onnx");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->name, "smart-turn");
  EXPECT_EQ(name(find_family(entry->family)->kind), "end of turn");
}

}  // namespace
}  // namespace mynah
