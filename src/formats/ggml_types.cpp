#include "formats/ggml_types.h"

#include <algorithm>
#include <array>

namespace mynah {
namespace {

struct GgmlType {
  uint32_t number;
  ElementType type;
};

constexpr std::array<GgmlType, 21> kGgmlTypes = {{
    {0, {DType::F32, Widening::None}},      {1, {DType::F16, Widening::None}},
    {2, {DType::Q4_0, Widening::None}},     {3, {DType::Q4_1, Widening::None}},
    {6, {DType::Q5_0, Widening::None}},     {7, {DType::Q5_1, Widening::None}},
    {8, {DType::Q8_0, Widening::None}},     {10, {DType::Q2_K, Widening::None}},
    {11, {DType::Q3_K, Widening::None}},    {12, {DType::Q4_K, Widening::None}},
    {13, {DType::Q5_K, Widening::None}},    {14, {DType::Q6_K, Widening::None}},
    {20, {DType::IQ4_NL, Widening::None}},  {23, {DType::IQ4_XS, Widening::None}},
    {24, {DType::I8, Widening::None}},      {25, {DType::I32, Widening::I16ToI32}},
    {26, {DType::I32, Widening::None}},     {27, {DType::I64, Widening::None}},
    {28, {DType::F32, Widening::F64ToF32}}, {30, {DType::BF16, Widening::None}},
    {39, {DType::MXFP4, Widening::None}},
}};

}  // namespace

std::optional<ElementType> element_type_of_ggml(uint32_t number) {
  const auto* const found = std::ranges::find(kGgmlTypes, number, &GgmlType::number);
  return found == kGgmlTypes.end() ? std::nullopt : std::optional(found->type);
}

std::optional<uint32_t> ggml_number(DType dtype) {
  const auto* const found = std::ranges::find_if(kGgmlTypes, [&](const GgmlType& t) {
    return t.type.dtype == dtype && t.type.widening == Widening::None;
  });
  return found == kGgmlTypes.end() ? std::nullopt : std::optional(found->number);
}

}  // namespace mynah
