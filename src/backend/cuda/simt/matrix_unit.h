// What a card's matrix unit does with the operands of a warp's lanes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mynah::simt::detail {

// Of A and B: elements of half precision, bfloat16, or 32 or 16 codes of eight bits.
enum class MatrixType : uint8_t { F16, Bf16, Codes32, Codes16 };

// A lane's part (simt.h says which), and of the result.
struct MatrixOperands {
  uint32_t a[4];
  uint32_t b[2];
  uint32_t c[4];  // float or int
};

// A B + C -> C, of the lanes' operands, which stand kExchangeBytes apart. The products of a row and
// a column are added one after the other in f32: in what order a card adds them is not documented.
void multiply_lanes(std::byte* lanes, MatrixType type);

template <MatrixType kType>
int multiply_lanes(std::byte* lanes) {
  multiply_lanes(lanes, kType);
  return 1;
}

// The same of a warp's part of a warpgroup's product (WarpgroupProduct, the same for all lanes) of
// half precision or bfloat16: 16 rows of A, two panels, by all panels of B, read where they stand.
// Of C a lane has four of each panel of B, as in MatrixOperands. Returns the panels of B. A Fault
// where the lanes' matrices differ.
int multiply_panels(std::byte* lanes, MatrixType type);

template <MatrixType kType>
int multiply_panels(std::byte* lanes) {
  return multiply_panels(lanes, kType);
}

}  // namespace mynah::simt::detail
