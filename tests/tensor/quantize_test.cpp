#include "tensor/quantize.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace mynah {
namespace {

// One record of quant_vectors.bin (tools/make_quant_vectors.py).
struct Vector {
  DType dtype = DType::F32;
  std::vector<float> source;  // empty where the oracle does not quantise this type
  std::vector<std::byte> stored;
  std::vector<float> values;
};

class Reader {
 public:
  explicit Reader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
  }

  [[nodiscard]] bool done() const { return offset_ >= bytes_.size(); }

  template <class T>
  std::vector<T> take(size_t count) {
    std::vector<T> values(count);
    if (offset_ + count * sizeof(T) > bytes_.size()) {
      ADD_FAILURE() << "the vectors are cut off";
      offset_ = bytes_.size();
      return values;
    }
    if (count > 0) {
      std::memcpy(values.data(), bytes_.data() + offset_, count * sizeof(T));
    }
    offset_ += count * sizeof(T);
    return values;
  }

 private:
  std::vector<char> bytes_;
  size_t offset_ = 0;
};

std::vector<Vector> vectors() {
  Reader reader(QUANT_VECTORS);
  std::vector<Vector> all;
  while (!reader.done()) {
    const std::string name = reader.take<char>(8).data();
    const auto sizes = reader.take<uint32_t>(3);
    Vector v;
    v.dtype = parse_dtype(name).value_or(DType::I64);
    v.source = reader.take<float>(sizes[2] != 0 ? sizes[0] : 0);
    v.stored = reader.take<std::byte>(sizes[1]);
    v.values = reader.take<float>(sizes[0]);
    all.push_back(std::move(v));
  }
  return all;
}

TEST(Quantize, EveryStorageTypeIsReadAsTheGgufPackageReadsIt) {
  const auto all = vectors();
  EXPECT_EQ(all.size(), 15U);
  for (const Vector& v : all) {
    ASSERT_EQ(v.stored.size(), storage_bytes(v.dtype, static_cast<int64_t>(v.values.size())));
    std::vector<float> values(v.values.size());
    dequantize(v.dtype, v.stored.data(), values);
    // At most three roundings, which the two sides may order differently: d * scale * q - dmin * m.
    for (size_t i = 0; i < values.size(); ++i) {
      const float bound = 4 * std::numeric_limits<float>::epsilon() *
                          std::max(1.0F, 64.0F * std::fabs(v.values[i]));
      ASSERT_NEAR(values[i], v.values[i], is_block_type(v.dtype) ? bound : 0.0F)
          << name(v.dtype) << " element " << i;
    }
  }
}

TEST(Quantize, EveryStorageTypeIsWrittenAsTheGgufPackageWritesIt) {
  int compared = 0;
  for (const Vector& v : vectors()) {
    EXPECT_EQ(can_quantize(v.dtype), !v.source.empty()) << name(v.dtype);
    if (v.source.empty()) {
      continue;
    }
    ++compared;
    std::vector<std::byte> stored(v.stored.size());
    quantize(v.dtype, v.source, stored.data());
    const auto [mine, theirs] = std::ranges::mismatch(stored, v.stored);
    EXPECT_TRUE(mine == stored.end())
        << name(v.dtype) << " byte " << mine - stored.begin() << " of " << block_bytes(v.dtype)
        << "-byte blocks: " << std::to_integer<int>(*mine) << ", wanted "
        << std::to_integer<int>(*theirs);
  }
  EXPECT_EQ(compared, 7);
}

TEST(Quantize, HalfPrecisionSurvivesTheRoundTripForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = f16_to_f32(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
    } else {
      ASSERT_EQ(f32_to_f16(value), half) << bits;
    }
    const float brain = bf16_to_f32(half);
    if (std::isnan(brain)) {
      EXPECT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(brain))));
    } else {
      ASSERT_EQ(f32_to_bf16(brain), half) << bits;
    }
  }
}

TEST(Quantize, RoundingToHalfPrecisionTakesTheNearestAndTheEvenOfTwo) {
  EXPECT_EQ(f32_to_f16(65519.0F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7C00);
  EXPECT_EQ(f32_to_f16(1.0F + 0x1p-11F), 0x3C00);
  EXPECT_EQ(f32_to_f16(1.0F + 0x3p-11F), 0x3C02);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0x0000);
  EXPECT_EQ(f32_to_f16(0x1.8p-25F), 0x0001);
  EXPECT_EQ(f32_to_f16(-0x3p-25F), 0x8002);
  EXPECT_EQ(f32_to_f16(-0.0F), 0x8000);
  EXPECT_EQ(f32_to_bf16(1.0F + 0x1p-8F), 0x3F80);
  EXPECT_EQ(f32_to_bf16(1.0F + 0x3p-8F), 0x3F82);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7F80);
}

TEST(Quantize, RoundingIsWithinHalfAUnitOfTheType) {
  EXPECT_TRUE(rc::check([](float value) {
    if (!std::isfinite(value) || std::fabs(value) >= 65520.0F) {
      return;
    }
    const float half = f16_to_f32(f32_to_f16(value));
    RC_ASSERT(std::fabs(half - value) <= std::max(0x1p-25F, std::fabs(value) * 0x1p-11F));
    const float brain = bf16_to_f32(f32_to_bf16(value));
    RC_ASSERT(std::fabs(brain - value) <= std::fabs(value) * 0x1p-8F + 0x1p-133F);
  }));
}

// Largest distance of a value from the nearest code, as part of the block's range of values.
float half_step(DType dtype) {
  switch (dtype) {
    case DType::Q4_0:
      return 1.0F / 8;  // the far end of a signed range is one whole step away
    case DType::Q5_0:
      return 1.0F / 16;
    case DType::Q4_1:
      return 0.5F / 15 * 2;
    case DType::Q5_1:
      return 0.5F / 31 * 2;
    default:
      return 0.5F / 127;
  }
}

TEST(Quantize, BlockTypesKeepEveryValueWithinAStep) {
  EXPECT_TRUE(rc::check([] {
    const auto codes = *rc::gen::container<std::vector<int>>(64, rc::gen::inRange(-10000, 10000));
    std::vector<float> values;
    values.reserve(codes.size());
    for (const int c : codes) {
      values.push_back(static_cast<float>(c) * 1e-3F);
    }
    for (const DType dtype : {DType::Q4_0, DType::Q4_1, DType::Q5_0, DType::Q5_1, DType::Q8_0}) {
      std::vector<std::byte> stored(storage_bytes(dtype, 64));
      quantize(dtype, values, stored.data());
      std::vector<float> back(64);
      dequantize(dtype, stored.data(), back);
      for (size_t i = 0; i < 64; ++i) {
        const auto block = std::span(values).subspan(i / 32 * 32, 32);
        float peak = 0.0F;
        for (const float value : block) {
          peak = std::max(peak, std::fabs(value));
        }
        // The step, and the rounding of the block's scale (and offset) to half precision.
        RC_ASSERT(std::fabs(back[i] - values[i]) <= peak * (half_step(dtype) + 0x3p-11F) + 1e-6F);
      }
    }
  }));
}

TEST(Quantize, RowsOfInt8KeepEveryValueWithinHalfAStep) {
  EXPECT_TRUE(rc::check([](const std::vector<float>& values) {
    std::vector<int8_t> codes(values.size());
    const float scale = quantize_row_i8(values, codes.data());
    if (!std::isfinite(scale) || scale < 1e-30F) {
      return;
    }
    for (size_t i = 0; i < values.size(); ++i) {
      RC_ASSERT(std::fabs(static_cast<float>(codes[i]) * scale - values[i]) <= scale * 0.5001F);
    }
  }));
}

TEST(Quantize, RowsOfInt8RoundTiesToEvenAndSurviveBadNumbers) {
  std::vector<int8_t> codes(4);
  EXPECT_EQ(quantize_row_i8(std::vector<float>{127.0F, 0.5F, 1.5F, -2.5F}, codes.data()), 1.0F);
  EXPECT_THAT(codes, testing::ElementsAre(127, 0, 2, -2));
  EXPECT_EQ(quantize_row_i8(std::vector<float>(4, 0.0F), codes.data()), 0.0F);
  EXPECT_THAT(codes, testing::Each(0));
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    EXPECT_FALSE(
        std::isfinite(quantize_row_i8(std::vector<float>{1.0F, bad, 2.0F, 3.0F}, codes.data())));
    EXPECT_THAT(codes, testing::Each(0));
  }
}

TEST(Quantize, RowsOfInt8KeepTheCodesOfAnInt8Model) {
  // Scales whose multiples are rounded in f32, and codes that do not reach 127.
  for (const float step : {0.0013F, 0.7F, 3.1e-5F}) {
    std::vector<float> values;
    for (const int code : {-64, 63, 7, 0, -1, 40}) {
      values.push_back(static_cast<float>(code) * step);
    }
    std::vector<int8_t> codes(values.size());
    EXPECT_FLOAT_EQ(quantize_row_i8(values, codes.data()), step);
    EXPECT_THAT(codes, testing::ElementsAre(-64, 63, 7, 0, -1, 40));
  }
}

TEST(Quantize, RunsOfInt16KeepEveryValueWithinHalfAStep) {
  EXPECT_TRUE(rc::check([](std::vector<float> values) {
    values.resize(std::min<size_t>(values.size(), kInt16Run));
    std::vector<int16_t> codes(values.size());
    const float scale = quantize_run_i16(values, codes.data());
    int64_t sum = 0;
    for (size_t i = 0; i < values.size() && std::isfinite(scale); ++i) {
      sum += std::abs(codes[i]);
      // Numbers below the smallest scale times 32767 are zeros.
      RC_ASSERT(std::fabs(static_cast<float>(codes[i]) * scale - values[i]) <=
                scale * 0.5001F + 1e-33F);
    }
    RC_ASSERT(sum * kInt16Peak <= std::numeric_limits<int32_t>::max());
  }));
}

TEST(Quantize, RunsOfInt16AddUpWithinInt32) {
  // The worst that a run can be, one number alone, and one among many.
  std::vector<float> values(kInt16Run, 0.3F);
  std::vector<int16_t> codes(values.size());
  const float step = quantize_run_i16(values, codes.data());
  EXPECT_THAT(codes, testing::Each(codes[0]));
  EXPECT_GT(codes[0], 670);
  EXPECT_LE(int64_t{codes[0]} * kInt16Run * kInt16Peak, std::numeric_limits<int32_t>::max());
  EXPECT_NEAR(static_cast<float>(codes[0]) * step, 0.3F, step / 2);
  EXPECT_FLOAT_EQ(quantize_run_i16(std::vector<float>{0.0F, -2.0F}, codes.data()), 2.0F / 32767);
  EXPECT_EQ(codes[1], -32767);
  EXPECT_EQ(quantize_run_i16(std::vector<float>(4, 0.0F), codes.data()), 0.0F);
  for (const float bad : {INFINITY, -INFINITY, NAN}) {
    codes.assign(3, 1);
    EXPECT_FALSE(
        std::isfinite(quantize_run_i16(std::vector<float>{1.0F, bad, 2.0F}, codes.data())));
    EXPECT_THAT(codes, testing::Each(0));
  }
}

TEST(Quantize, IntegersBecomeTheirValue) {
  const std::vector<int64_t> wide{-3, 1LL << 40};
  std::vector<float> values(2);
  dequantize(DType::I64, reinterpret_cast<const std::byte*>(wide.data()), values);
  EXPECT_THAT(values, testing::ElementsAre(-3.0F, 0x1p40F));
  const std::vector<uint8_t> bytes{0, 255};
  dequantize(DType::U8, reinterpret_cast<const std::byte*>(bytes.data()), values);
  EXPECT_THAT(values, testing::ElementsAre(0.0F, 255.0F));
  dequantize(DType::I8, reinterpret_cast<const std::byte*>(bytes.data()), values);
  EXPECT_THAT(values, testing::ElementsAre(0.0F, -1.0F));
}

}  // namespace
}  // namespace mynah
