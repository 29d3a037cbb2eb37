#include "backend/cuda/simt/matrix_unit.h"

#include <bit>
#include <cstring>

#include "backend/cuda/simt/block.h"
#include "backend/cuda/simt/sim_thread.h"
#include "tensor/quantize.h"

namespace mynah::simt::detail {

namespace {

constexpr int kRows = 16;
constexpr int kColumns = 8;
constexpr int kMostDepth = 32;

std::byte* lane_at(std::byte* lanes, int lane) {
  return lanes + static_cast<ptrdiff_t>(lane) * static_cast<ptrdiff_t>(kExchangeBytes);
}

MatrixOperands operands_of(std::byte* lanes, int lane) {
  MatrixOperands operands;
  std::memcpy(&operands, lane_at(lanes, lane), sizeof(operands));
  return operands;
}

// Where operands stand in the lanes' registers (PTX ISA, "Matrix Fragments for mma.m16n8k16" and
// "m16n8k32"): lane 4 g + t has of A the rows g and g + 8, of B the column g, and of these word t
// of each half of the depth; of C the columns 2 t and 2 t + 1.
template <int kOfWord, class Element, class ElementOf>
void gather(std::byte* lanes, int halves, const ElementOf& element_of,
            Element (&a)[kRows][kMostDepth], Element (&b)[kColumns][kMostDepth]) {
  for (int lane = 0; lane < kLanes; ++lane) {
    const MatrixOperands operands = operands_of(lanes, lane);
    const int g = lane / 4;
    const int t = lane % 4;
    for (int half = 0; half < halves; ++half) {
      for (int i = 0; i < kOfWord; ++i) {
        const int k = half * 4 * kOfWord + t * kOfWord + i;
        a[g][k] = element_of(operands.a[2 * half], i);
        a[g + 8][k] = element_of(operands.a[2 * half + 1], i);
        b[g][k] = element_of(operands.b[half], i);
      }
    }
  }
}

template <class Value, class Element>
void multiply(std::byte* lanes, int depth, const Element (&a)[kRows][kMostDepth],
              const Element (&b)[kColumns][kMostDepth]) {
  for (int lane = 0; lane < kLanes; ++lane) {
    MatrixOperands operands = operands_of(lanes, lane);
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8;
      const int column = lane % 4 * 2 + i % 2;
      auto sum = std::bit_cast<Value>(operands.c[i]);
      for (int k = 0; k < depth; ++k) {
        sum += static_cast<Value>(a[row][k]) * static_cast<Value>(b[column][k]);
      }
      operands.c[i] = std::bit_cast<uint32_t>(sum);
    }
    std::memcpy(lane_at(lanes, lane), &operands, sizeof(operands));
  }
}

float half_of(uint32_t word, int i) {
  return f16_to_f32(static_cast<uint16_t>(word >> (16 * i)));
}

float bfloat_of(uint32_t word, int i) {
  return bf16_to_f32(static_cast<uint16_t>(word >> (16 * i)));
}

int code_of(uint32_t word, int i) {
  return static_cast<int8_t>(word >> (8 * i));
}

// A half of a word, as f32.
using HalfOf = float (*)(uint32_t word, int i);

HalfOf half_of_type(MatrixType type) {
  return type == MatrixType::F16 ? half_of : bfloat_of;
}

// Element k of a panel's row, k counted from the panel's begin: units of 16 bytes, each of eight
// rows, stand one after the other.
float element_of_panel(uintptr_t panel, int row, int k, HalfOf element_of) {
  constexpr int kUnitBytes = 16;
  constexpr int kOfUnit = 8;
  uint32_t word;
  std::memcpy(&word,
              reinterpret_cast<const std::byte*>(panel) +
                  ptrdiff_t{k / kOfUnit * kColumns + row} * kUnitBytes + k % kOfUnit / 2 * 4,
              sizeof(word));
  return element_of(word, k % 2);
}

}  // namespace

int multiply_panels(std::byte* lanes, MatrixType type) {
  constexpr int kDepth = 16;
  const HalfOf element_of = half_of_type(type);
  WarpgroupProduct products[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    std::memcpy(&products[lane], lane_at(lanes, lane), sizeof(WarpgroupProduct));
    if (products[lane].a != products[0].a || products[lane].b != products[0].b) {
      throw Fault("multiplies other matrices than its warp");
    }
  }
  const WarpgroupProduct& product = products[0];
  const auto panel_bytes = static_cast<uintptr_t>(product.panel_bytes);
  float a[kRows][kDepth];
  for (int row = 0; row < kRows; ++row) {
    for (int k = 0; k < kDepth; ++k) {
      a[row][k] = element_of_panel(product.a + static_cast<uintptr_t>(row / kColumns) * panel_bytes,
                                   row % kColumns, k, element_of);
    }
  }
  for (int panel = 0; panel < product.panels; ++panel) {
    float b[kColumns][kDepth];
    for (int column = 0; column < kColumns; ++column) {
      for (int k = 0; k < kDepth; ++k) {
        b[column][k] = element_of_panel(product.b + static_cast<uintptr_t>(panel) * panel_bytes,
                                        column, k, element_of);
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      float* const sums = products[lane].sums + ptrdiff_t{panel} * 4;
      for (int i = 0; i < 4; ++i) {
        float sum = product.adds ? sums[i] : 0.0F;
        for (int k = 0; k < kDepth; ++k) {
          sum += a[lane / 4 + i / 2 * 8][k] * b[lane % 4 * 2 + i % 2][k];
        }
        sums[i] = sum;
      }
    }
  }
  return product.panels;
}

void multiply_lanes(std::byte* lanes, MatrixType type) {
  if (type == MatrixType::F16 || type == MatrixType::Bf16) {
    float a[kRows][kMostDepth];
    float b[kColumns][kMostDepth];
    gather<2>(lanes, 2, half_of_type(type), a, b);
    multiply<float>(lanes, 16, a, b);
    return;
  }
  const int halves = type == MatrixType::Codes32 ? 2 : 1;
  int a[kRows][kMostDepth];
  int b[kColumns][kMostDepth];
  gather<4>(lanes, halves, code_of, a, b);
  multiply<int>(lanes, 16 * halves, a, b);
}

}  // namespace mynah::simt::detail
