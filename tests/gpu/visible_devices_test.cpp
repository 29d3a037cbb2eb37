#include "gpu/visible_devices.h"

#include <ostream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mynah::gpu {
namespace {

// Three cards; two UUIDs begin alike.
const std::vector<std::string> kUuids = {"GPU-aaaa1111-0000-0000-0000-000000000000",
                                         "GPU-aaaa2222-0000-0000-0000-000000000000",
                                         "GPU-bbbb3333-0000-0000-0000-000000000000"};

struct Case {
  std::string value;
  std::vector<std::string> shown;
  std::string explanation;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << "'" << c.value << "'";
}

class VisibleDevicesCase : public ::testing::TestWithParam<Case> {};

TEST_P(VisibleDevicesCase, IsReadAsTheDriverReadsIt) {
  const VisibleDevices visible =
      read_visible_devices(GetParam().value, {.count = kUuids.size(), .uuids = kUuids});
  EXPECT_FALSE(visible.all);
  EXPECT_EQ(visible.shown, GetParam().shown);
  EXPECT_EQ(visible.explanation, GetParam().explanation);
  EXPECT_EQ(visible.none(), GetParam().shown.empty());
  EXPECT_EQ(visible.remedy().empty(), visible.explanation.empty());
  EXPECT_EQ(visible.remedy() == "unset it, or set it to 0", visible.none());
}

INSTANTIATE_TEST_SUITE_P(
    Forms, VisibleDevicesCase,
    ::testing::Values(
        Case{"0,1,2", {"0", "1", "2"}, ""}, Case{"2,0,1,", {"2", "0", "1"}, ""},
        Case{"1", {"1"}, "CUDA_VISIBLE_DEVICES='1' shows 1 of 3 cards"},
        Case{" 1, 2", {"1", "2"}, "CUDA_VISIBLE_DEVICES=' 1, 2' shows 2 of 3 cards"},
        Case{"", {}, "CUDA_VISIBLE_DEVICES='' hides every card: it is set but names none"},
        Case{" ", {}, "CUDA_VISIBLE_DEVICES=' ' hides every card: it is set but names none"},
        Case{"-1",
             {},
             "CUDA_VISIBLE_DEVICES='-1' hides every card: '-1' is no card and ends the list"},
        Case{"0,2,-1,1",
             {"0", "2"},
             "CUDA_VISIBLE_DEVICES='0,2,-1,1' shows only 0, 2: '-1' is no card and ends the list"},
        Case{"0,0", {}, "CUDA_VISIBLE_DEVICES='0,0' hides every card: it names 0 twice"},
        Case{
            "abc", {}, "CUDA_VISIBLE_DEVICES='abc' hides every card: 'abc' is no number of a card"},
        Case{"cuda:0",
             {},
             "CUDA_VISIBLE_DEVICES='cuda:0' hides every card: 'cuda:0' is no number of a card"},
        Case{"1gpu2,+0", {"1", "0"}, "CUDA_VISIBLE_DEVICES='1gpu2,+0' shows 2 of 3 cards"},
        Case{"3",
             {},
             "CUDA_VISIBLE_DEVICES='3' hides every card: there is no card 3: this machine has 3"},
        Case{"0,99999999999999999999",
             {"0"},
             "CUDA_VISIBLE_DEVICES='0,99999999999999999999' shows only 0: there is no card "
             "99999999999999999999: this machine has 3"},
        Case{"0,,1", {"0"}, "CUDA_VISIBLE_DEVICES='0,,1' shows only 0: '' is no number of a card"},
        Case{",", {}, "CUDA_VISIBLE_DEVICES=',' hides every card: '' is no number of a card"},
        Case{"GPU-bbbb", {kUuids[2]}, "CUDA_VISIBLE_DEVICES='GPU-bbbb' shows 1 of 3 cards"},
        Case{"GPU-bbbb,GPU-aaaa1",
             {kUuids[2], kUuids[0]},
             "CUDA_VISIBLE_DEVICES='GPU-bbbb,GPU-aaaa1' shows 2 of 3 cards"},
        Case{"GPU-aaaa",
             {},
             "CUDA_VISIBLE_DEVICES='GPU-aaaa' hides every card: 2 cards have a UUID that begins "
             "with "
             "GPU-aaaa"},
        Case{"GPU-cccc",
             {},
             "CUDA_VISIBLE_DEVICES='GPU-cccc' hides every card: no card of this machine has a UUID "
             "that "
             "begins with GPU-cccc"},
        Case{"GPU-bbbb,0",
             {kUuids[2]},
             "CUDA_VISIBLE_DEVICES='GPU-bbbb,0' shows only " + kUuids[2] +
                 ": '0' is no UUID, as the entries before it are"},
        Case{"0,GPU-bbbb",
             {"0"},
             "CUDA_VISIBLE_DEVICES='0,GPU-bbbb' shows only 0: 'GPU-bbbb' is no number of a card"},
        Case{"GPU-bbbb,GPU-bbbb3",
             {},
             "CUDA_VISIBLE_DEVICES='GPU-bbbb,GPU-bbbb3' hides every card: it names " + kUuids[2] +
                 " twice"},
        Case{"MIG-11111111-2222-3333-4444-555555555555",
             {"MIG-11111111-2222-3333-4444-555555555555"},
             ""},
        Case{"MIG-" + kUuids[0] + "/1/0", {"MIG-" + kUuids[0] + "/1/0"}, ""},
        Case{"MIG-GPU-cccc/1/0",
             {},
             "CUDA_VISIBLE_DEVICES='MIG-GPU-cccc/1/0' hides every card: no card of this machine "
             "has the "
             "UUID GPU-cccc"},
        Case{
            "MIG-1,MIG-2",
            {"MIG-1"},
            "CUDA_VISIBLE_DEVICES='MIG-1,MIG-2' shows only MIG-1: a process can use one MIG slice"},
        Case{"MIG-1,0",
             {"MIG-1"},
             "CUDA_VISIBLE_DEVICES='MIG-1,0' shows only MIG-1: '0' is no MIG slice, as the entries "
             "before "
             "it are"}));

TEST(VisibleDevices, UnsetShowsAll) {
  const VisibleDevices visible = read_visible_devices(std::nullopt, {});
  EXPECT_TRUE(visible.all);
  EXPECT_FALSE(visible.none());
  EXPECT_EQ(visible.explanation, "");
}

TEST(VisibleDevices, WithoutKnowledgeOfTheCardsOnlyTheFormIsJudged) {
  EXPECT_EQ(read_visible_devices("7", {}).shown, std::vector<std::string>{"7"});
  EXPECT_EQ(read_visible_devices("7", {}).explanation, "");
  EXPECT_EQ(read_visible_devices("GPU-cccc", {}).shown, std::vector<std::string>{"GPU-cccc"});
  EXPECT_TRUE(read_visible_devices("-1", {}).none());
}

}  // namespace
}  // namespace mynah::gpu
