#include "place/terms/device_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "place/kinds/kinds.h"
#include "place/terms/device_name.h"

namespace mynah::place {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

DeviceRequest parsed(std::string_view text) {
  const auto request = parse_device_request(text);
  EXPECT_TRUE(request.has_value()) << text << ": " << request.error().message;
  return request.value_or(DeviceRequest());
}

TEST(DeviceRequest, AutoLeavesEveryStageFree) {
  const DeviceRequest request = parsed("auto");
  EXPECT_EQ(request, DeviceRequest());
  for (const Stage stage : all_stages()) {
    EXPECT_TRUE(request.of(stage).automatic);
    EXPECT_TRUE(request.of(stage).may_fall_back());
    EXPECT_THAT(request.of(stage).devices, IsEmpty());
  }
}

TEST(DeviceRequest, ANameAloneIsForAllStagesAndNeverFallsBack) {
  for (const Stage stage : all_stages()) {
    const DeviceRequest request = parsed("cuda");
    EXPECT_FALSE(request.of(stage).automatic);
    EXPECT_FALSE(request.of(stage).may_fall_back());
    EXPECT_THAT(request.of(stage).devices, ElementsAre("cuda:0"));
  }
  EXPECT_THAT(parsed("simt:0").of(kVadStage).devices, ElementsAre("simt:0"));
  // The same device said twice is no list.
  EXPECT_FALSE(parsed("cuda,cuda:0").of(kVadStage).may_fall_back());
}

TEST(DeviceRequest, AListIsInOrderOfPreference) {
  const DeviceRequest request = parsed(" cuda:1, cpu ");
  EXPECT_THAT(request.of(kTtsVocoder).devices, ElementsAre("cuda:1", "cpu"));
  EXPECT_TRUE(request.of(kTtsVocoder).may_fall_back());
  EXPECT_THAT(parsed("cpu,cuda:1").of(kVadStage).devices, ElementsAre("cpu", "cuda:1"));
}

TEST(DeviceRequest, StagesAndGroupsHaveListsOfTheirOwn) {
  const DeviceRequest split = parsed("stt.encoder=cuda:0,cpu,stt.decoder=cpu");
  EXPECT_THAT(split.of(kSttEncoder).devices, ElementsAre("cuda:0", "cpu"));
  EXPECT_THAT(split.of(kSttDecoder).devices, ElementsAre("cpu"));
  // Whichever stands first: a stage's list goes before its group's, which goes before that in
  // front.
  for (const char* text :
       {"cpu,stt=cuda:1,stt.decoder=cuda:2", "cpu,stt.decoder=cuda:2,stt=cuda:1"}) {
    const DeviceRequest request = parsed(text);
    EXPECT_THAT(request.of(kVadStage).devices, ElementsAre("cpu")) << text;
    EXPECT_THAT(request.of(kSttEncoder).devices, ElementsAre("cuda:1")) << text;
    EXPECT_THAT(request.of(kSttDecoder).devices, ElementsAre("cuda:2")) << text;
    EXPECT_THAT(request.of(kTtsAcoustic).devices, ElementsAre("cpu")) << text;
  }
}

TEST(DeviceRequest, DevicesBesideEachOtherComeBeforeWhatIsFallenBackOn) {
  const StageDevices two = parsed("stt=cuda:0 + cuda:1,cpu").of(kSttDecoder);
  EXPECT_THAT(two.devices, ElementsAre("cuda:0", "cuda:1", "cpu"));
  EXPECT_EQ(two.beside, 2U);
  EXPECT_TRUE(two.may_fall_back());
  EXPECT_FALSE(parsed("stt=cuda:0+cuda:1").of(kSttEncoder).may_fall_back());
  EXPECT_EQ(parsed("stt=cuda+cuda:0").of(kSttEncoder).beside, 1U);
  EXPECT_THAT(parsed("stt=cuda:0+cuda:1").of(kTtsAcoustic).devices,
              ElementsAre("cuda:0", "cuda:1", "cpu"));
  EXPECT_EQ(parsed("stt=cuda:0+cuda:1").of(kTtsAcoustic).beside, 1U);
}

TEST(DeviceRequest, StagesThatNothingNamesChooseAmongTheNamedAndTheProcessor) {
  const DeviceRequest request = parsed("stt=cuda:1");
  EXPECT_TRUE(request.of(kTtsAcoustic).automatic);
  EXPECT_THAT(request.of(kTtsAcoustic).devices, ElementsAre("cuda:1", "cpu"));
  // What only checks others is chosen by nobody but the user.
  EXPECT_THAT(parsed("stt=ref,tts=simt:0").of(kVadStage).devices, ElementsAre("cpu"));
  // Who says auto means all.
  EXPECT_EQ(parsed("stt=cuda:1,tts=auto").of(kTtsVocoder), StageDevices());
}

TEST(DeviceRequest, NamesAProfile) {
  EXPECT_EQ(parsed("profile:evening-4").profile, "evening-4");
  EXPECT_EQ(describe(parsed("profile:evening-4")), "profile:evening-4");
}

TEST(DeviceRequest, IsDescribedInTheFewestWords) {
  for (const auto& [text, wanted] :
       {std::pair("auto", "auto"),
        {"cuda", "cuda:0"},
        {"cuda,cpu", "cuda:0,cpu"},
        {"tts=cpu,stt=cuda", "stt=cuda:0,tts=cpu"},
        {"stt.encoder=cuda,stt.decoder=cuda", "stt=cuda:0"},
        {"stt.encoder=cuda,cpu,stt.decoder=cpu", "stt.encoder=cuda:0,cpu,stt.decoder=cpu"},
        {"vad=auto,stt=auto,tts=auto", "auto"},
        {"stt=cuda+cuda:1,cpu,tts=cpu", "stt=cuda:0+cuda:1,cpu,tts=cpu"},
        {"ref,tts=auto", "vad=ref,stt=ref,tts=auto,llm=ref,embed=ref"}}) {
    EXPECT_EQ(describe(parsed(text)), wanted) << text;
  }
}

struct Wrong {
  const char* text;
  ErrorCode code;
  std::vector<const char*> parts;
};

TEST(DeviceRequest, WrongWordsAreToldWithTheNearestRightOne) {
  const std::vector<Wrong> cases = {
      {"", ErrorCode::Usage, {"wanted auto, cpu, cuda, ref, simt:0 or cuda:N, found ''"}},
      {"cpuu", ErrorCode::Usage, {"found 'cpuu' (did you mean cpu?)"}},
      {"CUDA", ErrorCode::Usage, {"did you mean cuda?"}},
      {"cuda:-1", ErrorCode::Usage, {"found 'cuda:-1'"}},
      {"cuda:", ErrorCode::Usage, {"found 'cuda:'"}},
      {"cuda,", ErrorCode::Usage, {"found ''"}},
      {"stt=", ErrorCode::Usage, {"found ''"}},
      {"metal",
       ErrorCode::Usage,
       {"--device metal: mynah knows NVIDIA's cards", "wanted auto, cpu"}},
      {"stt=cpu,tts=vulkan:1", ErrorCode::Usage, {"--device vulkan:1: "}},
      {"sst=cpu", ErrorCode::Usage, {"stt.encoder", "found 'sst' (did you mean stt?)"}},
      {"stt.decode=cpu", ErrorCode::Usage, {"(did you mean stt.decoder?)"}},
      {"=cpu", ErrorCode::Usage, {"in front of '='", "found ''"}},
      {"stt=cpu,stt=cuda", ErrorCode::Usage, {"wanted one list for stt, found two"}},
      {"cuda,auto", ErrorCode::Usage, {"auto stands alone"}},
      {"stt=auto,cpu", ErrorCode::Usage, {"auto stands alone"}},
      {"cuda:0+cuda:1", ErrorCode::Usage, {"as in stt=cuda:0+cuda:1,cpu; found 'cuda:0+cuda:1'"}},
      {"stt=cpu,cuda:0+cuda:1", ErrorCode::Usage, {"stand first"}},
      {"stt.encoder=cuda:0+cuda:1", ErrorCode::Usage, {"stand first in the list of what hears"}},
      {"tts=cuda:0+cuda:1", ErrorCode::Usage, {"what hears"}},
      {"stt=cuda:0+auto", ErrorCode::Usage, {"auto stands alone"}},
      {"stt=cuda:0+", ErrorCode::Usage, {"found ''"}},
      {"profile:", ErrorCode::Usage, {"wanted profile:NAME", "mynah profile list"}},
      {"profile:../x", ErrorCode::Usage, {"found 'profile:../x'"}},
      {"profile:a,cpu", ErrorCode::Usage, {"wanted profile:NAME"}},
      {"cpu,profile:a", ErrorCode::Usage, {"a profile stands alone", "cpu,profile:a"}},
  };
  for (const Wrong& wrong : cases) {
    const auto request = parse_device_request(wrong.text);
    ASSERT_FALSE(request.has_value()) << wrong.text;
    EXPECT_EQ(request.error().code, wrong.code) << wrong.text;
    for (const char* part : wrong.parts) {
      EXPECT_THAT(request.error().message, HasSubstr(part)) << wrong.text;
    }
  }
}

// A request as a user could write it, of any scopes in any order.
std::string any_text() {
  const auto devices = [] {
    return *rc::gen::container<std::vector<std::string>>(
        *rc::gen::inRange<size_t>(1, 4),
        rc::gen::element<std::string>("cpu", "cuda", "cuda:0", "cuda:1", "cuda:12", "ref",
                                      "simt:0"));
  };
  std::string text;
  const auto add = [&](const std::string& scope) {
    if (*rc::gen::inRange(0, 2) == 0) {
      return;
    }
    const bool free = *rc::gen::inRange(0, 4) == 0;
    text += (text.empty() ? "" : ",") + scope;
    for (std::string joint;
         const std::string& device : free ? std::vector<std::string>{"auto"} : devices()) {
      text += joint + device;
      joint = ",";
    }
  };
  add("");
  const std::vector<std::string> scopes = {
      "vad=", "stt=", "tts=", "stt.encoder=", "stt.decoder=", "tts.acoustic=", "tts.vocoder="};
  // Some order of them: of equal keys the first stays first.
  auto keys = *rc::gen::container<std::vector<int>>(scopes.size(), rc::gen::inRange(0, 100));
  std::vector<size_t> order = {0, 1, 2, 3, 4, 5, 6};
  std::ranges::stable_sort(order, {}, [&](size_t i) { return keys[i]; });
  for (const size_t i : order) {
    add(scopes[i]);
  }
  return text.empty() ? "auto" : text;
}

TEST(DeviceRequest, IsReadBackFromItsDescription) {
  EXPECT_TRUE(rc::check([] {
    const std::string text = any_text();
    const auto request = parse_device_request(text);
    RC_ASSERT(request.has_value());
    const auto again = parse_device_request(describe(*request));
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == *request);
    for (const StageDevices& stage : request->stages) {
      RC_ASSERT(stage.automatic || !stage.devices.empty());
      for (const std::string& device : stage.devices) {
        RC_ASSERT(full_device_name(device) == device);
        RC_ASSERT(!stage.automatic || is_for_auto(device));
      }
    }
  }));
}

}  // namespace
}  // namespace mynah::place
