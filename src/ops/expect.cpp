#include "ops/expect.h"

#include <algorithm>

namespace mynah::ops {
namespace {

bool matches(const Shape& shape, std::initializer_list<Dim> sizes) {
  if (shape.rank() != static_cast<int>(sizes.size())) {
    return false;
  }
  return std::ranges::equal(sizes, shape.sizes(), [](const Dim& wanted, int64_t found) {
    return wanted.name != nullptr || wanted.size == found;
  });
}

std::string describe(std::initializer_list<Dim> sizes) {
  std::string text = "(";
  for (const Dim& dim : sizes) {
    text += (text.size() > 1 ? ", " : "") + dim.str();
  }
  return text + ")";
}

}  // namespace

void expect_type(const Backend& backend, const char* op, const char* argument, const Tensor& x,
                 DType dtype) {
  MYNAH_CHECK(x.defined(), "[", op, "] ", argument, " is not defined");
  MYNAH_CHECK(x.device() == backend.device(), "[", op, "] ", argument, " must be on ",
              backend.device().str(), ", is on ", x.device().str());
  MYNAH_CHECK(x.dtype() == dtype, "[", op, "] ", argument, " must be ", name(dtype), ", got ",
              name(x.dtype()));
}

void expect(const Backend& backend, const char* op, const char* argument, const Tensor& x,
            std::initializer_list<Dim> sizes, DType dtype) {
  expect_type(backend, op, argument, x, dtype);
  MYNAH_CHECK(matches(x.shape(), sizes), "[", op, "] ", argument, " must be ", describe(sizes),
              ", got ", x.shape().str());
}

void expect_float(const char* op, const char* argument, const Tensor& x) {
  MYNAH_CHECK(x.dtype() == DType::F32 || x.dtype() == DType::F16 || x.dtype() == DType::BF16, "[",
              op, "] ", argument, " must be f32, f16 or bf16, got ", name(x.dtype()));
}

void expect_cache_type(const char* op, const char* argument, const Tensor& x) {
  if (x.dtype() != DType::Q8_0) {
    expect_float(op, argument, x);
  }
}

void expect_consecutive(const char* op, const char* argument, std::span<const Span> spans,
                        int64_t rows) {
  int64_t end = 0;
  for (const Span& span : spans) {
    MYNAH_CHECK(span.begin == end && span.length >= 0, "[", op, "] ", argument,
                " must follow each other, wanted one at ", std::to_string(end), ", got ",
                std::to_string(span.begin));
    end = span.end();
  }
  MYNAH_CHECK(end == rows, "[", op, "] ", argument, " must cover ", std::to_string(rows),
              " rows, got ", std::to_string(end));
}

Tensor as_rows(Backend& backend, const Tensor& x) {
  if (x.rank() == 2) {
    return x;
  }
  const int64_t d = x.rank() == 0 ? 1 : x.dim(-1);
  const Shape shape{d == 0 ? 0 : x.elements() / d, d};
  if (x.contiguous()) {
    return x.reshape(shape);
  }
  Tensor packed(backend.allocate(storage_bytes(x.dtype(), x.elements())), 0, x.shape(), x.dtype(),
                x.device());
  backend.copy(x, packed);
  return packed.reshape(shape);
}

}  // namespace mynah::ops
