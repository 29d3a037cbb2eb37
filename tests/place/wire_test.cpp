// Whatever passes between mynah and its workers: comes back as it was sent, and no other bytes are
// taken for it.
#include "place/wire/wire.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "place/kinds/kinds.h"
#include "place/kinds/voice/voice_questions.h"
#include "place/kinds/windows/windows_questions.h"
#include "place/made_up_values.h"

namespace mynah::place {

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// Stands for any one value when a struct's fields are counted. An optional takes it as its value.
// Outside the unnamed namespace, where a function that is never called would have to be defined.
struct AnyField {
  template <class T>
    requires(!kIsOptional<T>)
  operator T() const;  // NOLINT(google-explicit-constructor)
};

namespace {

using test::made_up;
using test::MadeUp;
using test::wire_bytes;

template <class T, class... Fields>
consteval size_t fields_of() {
  if constexpr (requires { T{Fields{}..., AnyField{}}; }) {
    return fields_of<T, Fields..., AnyField>();
  } else {
    return sizeof...(Fields);
  }
}

// An archive that counts what it is shown.
struct Counter {
  size_t fields = 0;

  template <class... T>
  void operator()(T&... values) {
    ((static_cast<void>(values), ++fields), ...);
  }
};

// A struct that passes, and how many of its fields do not.
template <class T, size_t kLeftOut = 0>
struct Passing {
  using Type = T;
  static constexpr size_t kStays = kLeftOut;
};

template <class P>
class Wire : public ::testing::Test {};

// Whose window it is, and who stops it, stays with who cuts recordings; so do a segment's number,
// words and speaker.
using AllTypes = ::testing::Types<
    Passing<WhisperOptions>, Passing<DecodingOptions>, Passing<WindowTask, 3>,
    Passing<TimestampToken>, Passing<Segment, 3>, Passing<HeardWord>, Passing<HeardDoubt>,
    Passing<HeardWindow>, Passing<WindowTimings>, Passing<PhonemeWord>, Passing<VoiceSettings>,
    Passing<SoundSpan>, Passing<PhonemeSound>, Passing<ClauseSound>, Passing<VoiceFacts>,
    Passing<VoiceFile>, Passing<DetectorFile>, Passing<WindowsFile>, Passing<VoiceModelFile>,
    Passing<LanguageFile>, Passing<LanguageFacts>, Passing<TokenPenalty>, Passing<TokenWish>,
    Passing<TextStep>, Passing<TextFork>, Passing<StepRequest>, Passing<LikelyToken>,
    Passing<ChosenToken>, Passing<EmbeddingFile>, Passing<EmbeddingFacts>, Passing<StageDevice>,
    Passing<AnotherMynah>, Passing<WindowsQuestion>, Passing<HeardAnswer>, Passing<ProbeQuestion>,
    Passing<VoiceQuestion>, Passing<VoiceAnswer>, Passing<ClauseQuestion>, Passing<DeviceSettings>,
    Passing<Fault>, Passing<DetectorFacts>, Passing<VoiceReading>, Passing<VoiceModelFacts>,
    Passing<StageReport>, Passing<ProbeStage>, Passing<Probe>, Passing<ProbeTime>,
    Passing<ProbeReport>, Passing<WindowMemory>, Passing<FullWindow>, Passing<OperationOutcome>,
    Passing<Measurement>, Passing<Error>, Passing<WakeState>, Passing<Proof>, Passing<Distrust>,
    Passing<Reference>>;
TYPED_TEST_SUITE(Wire, AllTypes);

TYPED_TEST(Wire, EveryFieldPasses) {
  using T = typename TypeParam::Type;
  Counter counter;
  T value{};
  wire(counter, value);
  EXPECT_EQ(counter.fields + TypeParam::kStays, fields_of<T>());
}

TYPED_TEST(Wire, ComesBackAsItWasSent) {
  using T = typename TypeParam::Type;
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    MadeUp archive(seed);
    const std::vector<T> sent{made_up<T>(archive), made_up<T>(archive)};
    const auto bytes = wire_bytes(sent);
    std::vector<T> received;
    RC_ASSERT(read_wire(bytes, received));
    RC_ASSERT(received.size() == 2U);
    // Byte by byte: numbers that are none pass as well.
    RC_ASSERT(wire_bytes(received) == bytes);
  }));
}

TYPED_TEST(Wire, WhatIsCutShortOrTooLongIsRefused) {
  using T = typename TypeParam::Type;
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    MadeUp archive(seed);
    auto bytes = wire_bytes(made_up<T>(archive));
    for (size_t length = 0; length < bytes.size(); ++length) {
      T received{};
      RC_ASSERT(!read_wire(std::span(bytes).first(length), received));
    }
    bytes.push_back(std::byte{0});
    T received{};
    RC_ASSERT(!read_wire(bytes, received));
  }));
}

// An archive that sums what values hold.
struct Scale {
  size_t bytes = 0;

  template <class... T>
  void operator()(T&... values) {
    (weigh(values), ...);
  }

  template <WireNumber T>
  void weigh(T& /*value*/) {
    bytes += sizeof(T);
  }

  void weigh(std::string& text) { bytes += text.size(); }

  template <WireNumber T>
  void weigh(std::span<const T>& values) {
    bytes += values.size_bytes();
  }

  template <class T>
  void weigh(std::vector<T>& values) {
    for (T& value : values) {
      weigh(value);
    }
  }

  template <class T>
  void weigh(std::optional<T>& value) {
    if (value) {
      weigh(*value);
    }
  }

  template <class T>
    requires std::is_class_v<T>
  void weigh(T& value) {
    wire(*this, value);
  }
};

// Whether it is refused or not, what was read holds no more than the bytes did, and the sizes of
// what was begun.
TYPED_TEST(Wire, DamagedBytesAreReadSafely) {
  using T = typename TypeParam::Type;
  EXPECT_TRUE(rc::check([](uint64_t seed) {
    MadeUp archive(seed);
    std::mt19937_64 random(seed);
    auto bytes = wire_bytes(std::vector<T>{made_up<T>(archive), made_up<T>(archive)});
    for (int i = 0; i < 30; ++i) {
      auto damaged = bytes;
      for (size_t hits = 1 + random() % 4; hits > 0; --hits) {
        damaged[random() % damaged.size()] = static_cast<std::byte>(random());
      }
      // Lengths are what is most worth to damage.
      if (random() % 2 == 0) {
        const uint64_t length = random() % 2 == 0 ? ~uint64_t{0} >> (random() % 64) : random();
        const size_t at = random() % damaged.size();
        std::memcpy(damaged.data() + at, &length, std::min(sizeof length, damaged.size() - at));
      }
      std::vector<T> received;
      if (read_wire(damaged, received)) {
        RC_ASSERT(wire_bytes(received).size() == damaged.size());
      }
      Scale scale;
      scale(received);
      RC_ASSERT(scale.bytes <= damaged.size() + received.size() * sizeof(T) + 1000);
    }
  }));
}

TEST(Wire, ACountThatIsNotThereAllocatesNothing) {
  for (const uint64_t count : {uint64_t{1} << 60, ~uint64_t{0}, ~uint64_t{0} / 4, uint64_t{3}}) {
    const auto bytes = wire_bytes(count);
    std::vector<float> numbers;
    EXPECT_FALSE(read_wire(bytes, numbers));
    EXPECT_EQ(numbers.capacity(), 0U);
    std::string text;
    EXPECT_FALSE(read_wire(bytes, text));
    std::vector<HeardWindow> texts;
    EXPECT_FALSE(read_wire(bytes, texts));
    EXPECT_EQ(texts.capacity(), 0U);
    std::span<const float> view;
    EXPECT_FALSE(read_wire(bytes, view));
    EXPECT_TRUE(view.empty());
  }
}

TEST(Wire, AnEnumHasNoValueThatItDoesNotKnow) {
  const auto refused = [](auto last) {
    const auto bytes = wire_bytes(
        static_cast<std::underlying_type_t<decltype(last)>>(static_cast<size_t>(last) + 1));
    decltype(last) value{};
    return !read_wire(bytes, value) && read_wire(wire_bytes(last), value) && value == last;
  };
  EXPECT_TRUE(refused(ErrorCode::Usage));
  EXPECT_TRUE(refused(FaultKind::Stop));
  EXPECT_TRUE(refused(kEmbedGroup));
  EXPECT_TRUE(refused(Precision::Fast));
  EXPECT_TRUE(refused(static_cast<DType>(kDTypeCount - 1)));
  const auto number_of_stages = static_cast<uint8_t>(all_stages().size());
  Stage stage;
  EXPECT_FALSE(read_wire(wire_bytes(number_of_stages), stage));
  EXPECT_TRUE(read_wire(wire_bytes(static_cast<uint8_t>(number_of_stages - 1)), stage));
  EXPECT_EQ(stage, all_stages().back());
  EXPECT_EQ(wire_bytes(stage).size(), 1U);
  const auto negative = wire_bytes(static_cast<std::underlying_type_t<ErrorCode>>(-1));
  ErrorCode code{};
  EXPECT_FALSE(read_wire(negative, code));
}

TEST(Wire, RunsOfNumbersAreReadWhereTheyLie) {
  const std::vector<float> samples{1, 2, 3};
  const auto bytes = wire_bytes(true, std::span<const float>(samples), std::string("x"));
  bool flag = false;
  std::span<const float> view;
  std::string text;
  ASSERT_TRUE(read_wire(bytes, flag, view, text));
  EXPECT_EQ(std::vector<float>(view.begin(), view.end()), samples);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data()) % alignof(float), 0U);
  EXPECT_GE(reinterpret_cast<const std::byte*>(view.data()), bytes.data());
  EXPECT_LT(reinterpret_cast<const std::byte*>(view.data()), bytes.data() + bytes.size());
}

}  // namespace
}  // namespace mynah::place
