#include "formats/pickle.h"

#include <array>
#include <string_view>

#include <gtest/gtest.h>

#include "corpus.h"

namespace mynah {
namespace {

constexpr std::array<std::string_view, 2> kGlobals = {"collections OrderedDict",
                                                      "torch FloatStorage"};

Result<Pickle> read(const std::shared_ptr<const MappedFile>& file) {
  return read_pickle(file->bytes(), file->path(), kGlobals);
}

// {"a": [1, 2.5, "x", None, True], "b": (1, (2, 3)), 3: {"c": b"bytes"}, "big": 2**50}
TEST(Pickle, ReadsPlainValuesOfEveryProtocol) {
  for (const char* name : {"good-protocol-2", "good-protocol-4", "good-protocol-5"}) {
    const auto file = map_corpus("pickle", name);
    const auto result = read(file);
    ASSERT_TRUE(result) << result.error().message;
    const Pickle& pickle = *result;
    const PickleValue& root = pickle[pickle.root];
    ASSERT_EQ(root.kind, PickleKind::Dict);
    ASSERT_EQ(root.items.size(), 8U);
    EXPECT_EQ(pickle[root.items[0]].text, "a");
    const PickleValue& list = pickle[root.items[1]];
    ASSERT_EQ(list.kind, PickleKind::List);
    ASSERT_EQ(list.items.size(), 5U);
    EXPECT_EQ(pickle[list.items[0]].integer, 1);
    EXPECT_EQ(pickle[list.items[1]].number, 2.5);
    EXPECT_EQ(pickle[list.items[2]].text, "x");
    EXPECT_EQ(pickle[list.items[3]].kind, PickleKind::None);
    EXPECT_EQ(pickle[list.items[4]].kind, PickleKind::Bool);
    EXPECT_EQ(pickle[root.items[3]].kind, PickleKind::Tuple);
    EXPECT_EQ(pickle[root.items[4]].integer, 3);
    EXPECT_EQ(pickle[pickle[root.items[5]].items[1]].text, "bytes");
    EXPECT_EQ(pickle[root.items[7]].integer, int64_t{1} << 50);
  }
}

TEST(Pickle, AnOrderedDictionaryIsADictionaryAndItsStateIsDropped) {
  const auto file = map_corpus("pickle", "good-ordered");  // texts are views of it
  const auto pickle = read(file);
  ASSERT_TRUE(pickle) << pickle.error().message;
  const PickleValue& root = (*pickle)[pickle->root];
  ASSERT_EQ(root.kind, PickleKind::Dict);
  ASSERT_EQ(root.items.size(), 2U);
  EXPECT_EQ((*pickle)[root.items[0]].text, "k");
  EXPECT_EQ((*pickle)[root.items[1]].integer, 1);
}

TEST(Pickle, NamesTheGlobalThatItRefuses) {
  for (const auto& [name, global] :
       {std::pair("bad-global", "os system"), std::pair("bad-stack-global", "os system"),
        std::pair("bad-codecs", "_codecs encode")}) {
    const auto pickle = read(map_corpus("pickle", name));
    ASSERT_FALSE(pickle);
    EXPECT_NE(pickle.error().message.find(global), std::string::npos) << pickle.error().message;
  }
}

TEST(Pickle, RefusesWhatIsNoPickleOfPlainValues) {
  for (const auto& path : corpus_files("pickle", "bad-")) {
    EXPECT_FALSE(read(map_file(path))) << path;
  }
}

}  // namespace
}  // namespace mynah
