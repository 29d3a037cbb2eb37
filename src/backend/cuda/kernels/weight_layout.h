// How a weight matrix lies in the card's memory: what packing writes (packed.cpp) and kernels read
// (weights.h).
//
// Rows of the matrix (output features) stand in panels of eight, their elements in chunks of 32;
// the last panel and the last chunk are filled up with zeros. The pieces of a panel's eight rows
// stand side by side, so that eight lanes which read one row each read one run of memory, and eight
// rows of sixteen bytes are what a matrix unit is loaded with. A matrix is up to five regions, one
// after the other:
//
//   values    f32, f16, bf16 and codes of eight bits: (panel, unit of 16 bytes, row).
//             Codes of four and two bits, or their low bits: (panel, chunk, row), 16 or 8 bytes.
//   high      the codes' high bits: (panel, chunk, row), 4 bytes for one bit, 8 for two.
//   headers   what a chunk's codes are scaled by: (panel, chunk, row).
//   factors   what the headers of a super-block of eight chunks are scaled by, f16 of the scales
//             and where there are any of the minima: (panel, super-block, row).
//   scales    f32 of whole rows: (row), of I8.
#pragma once

#include <stdint.h>  // NOLINT(modernize-deprecated-headers): device code has no <cstdint>

namespace mynah::simt {

// tensor/dtype.h's DType, in its order.
enum class Storage : uint8_t {
  F32,
  F16,
  BF16,
  I8,
  U8,
  I32,
  I64,
  Q4_0,
  Q4_1,
  Q5_0,
  Q5_1,
  Q8_0,
  Q2_K,
  Q3_K,
  Q4_K,
  Q5_K,
  Q6_K,
  IQ4_NL,
  IQ4_XS,
  MXFP4
};

inline constexpr int kPanel = 8;
inline constexpr int kChunk = 32;
inline constexpr int kSuperChunks = 8;  // of a super-block
inline constexpr int kUnitBytes = 16;   // what a lane reads at once

// What a chunk's header holds.
enum class Header : uint8_t {
  None,
  Scale,  // f16
  Bf16Scale,
  ScaleMinimum,      // two f16
  Nibbles,           // a byte for each half: scale in the low bits, minimum in the high ones
  SignedBytes,       // int8 scales, one for each half
  ScaleMinimumBytes  // unsigned bytes
};

// Bytes are those of one row. Element i of a half chunk is in word i / 4, byte i % 4 of what
// weights.h makes of it.
struct ChunkLayout {
  int value_bytes;
  int high_bytes;
  int header_bytes;
  int factor_bytes;
  int low_bits;   // of a code that stand in the values; 0: values are floats
  int high_bits;  // of a code
  int offset;     // code 0's, where codes are stored from 0 up
  Header header;
  bool halves;  // each half of the chunk has a scale of its own
  bool minima;
  bool table = false;  // codes number one of sixteen (kIq4Table, kMxfp4Table)
};

// What the four bits of IQ4_NL and IQ4_XS, and those of MXFP4, stand for (tensor/blocks.h): int8
// from 0 up.
inline constexpr uint32_t kIq4Table[4] = {0xBFAD9881U, 0xF6EADDCFU, 0x26190D01U, 0x71594535U};
inline constexpr uint32_t kMxfp4Table[4] = {0x03020100U, 0x0C080604U, 0xFDFEFF00U, 0xF4F8FAFCU};

[[nodiscard]] constexpr ChunkLayout layout_of(Storage storage) {
  switch (storage) {
    case Storage::F32:
      return {128, 0, 0, 0, 0, 0, 0, Header::None, false, false};
    case Storage::F16:
    case Storage::BF16:
      return {64, 0, 0, 0, 0, 0, 0, Header::None, false, false};
    case Storage::I8:
      return {32, 0, 0, 0, 8, 0, 0, Header::None, false, false};
    case Storage::Q4_0:
      return {16, 0, 2, 0, 4, 0, 8, Header::Scale, false, false};
    case Storage::Q4_1:
      return {16, 0, 4, 0, 4, 0, 0, Header::ScaleMinimum, false, true};
    case Storage::Q5_0:
      return {16, 4, 2, 0, 4, 1, 16, Header::Scale, false, false};
    case Storage::Q5_1:
      return {16, 4, 4, 0, 4, 1, 0, Header::ScaleMinimum, false, true};
    case Storage::Q8_0:
      return {32, 0, 2, 0, 8, 0, 0, Header::Scale, false, false};
    case Storage::Q2_K:
      return {8, 0, 2, 4, 2, 0, 0, Header::Nibbles, true, true};
    case Storage::Q3_K:
      return {8, 4, 2, 2, 2, 1, 4, Header::SignedBytes, true, false};
    case Storage::Q4_K:
      return {16, 0, 2, 4, 4, 0, 0, Header::ScaleMinimumBytes, false, true};
    case Storage::Q5_K:
      return {16, 4, 2, 4, 4, 1, 0, Header::ScaleMinimumBytes, false, true};
    case Storage::Q6_K:
      return {16, 8, 2, 2, 4, 2, 32, Header::SignedBytes, true, false};
    case Storage::IQ4_NL:
      return {16, 0, 2, 0, 4, 0, 0, Header::Scale, false, false, true};
    case Storage::IQ4_XS:
      return {16, 0, 2, 2, 4, 0, 0, Header::SignedBytes, false, false, true};
    case Storage::MXFP4:
      return {16, 0, 2, 0, 4, 0, 0, Header::Bf16Scale, false, false, true};
    default:
      return {};
  }
}

// A packed matrix as kernels are given it; regions that a type lacks are null.
struct Weights {
  const uint8_t* values;
  const uint8_t* high;
  const uint8_t* headers;
  const uint8_t* factors;
  const float* scales;
  int64_t panels;
  int64_t chunks;  // of a row
};

}  // namespace mynah::simt
