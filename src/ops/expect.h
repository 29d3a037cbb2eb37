// The checks that operations make of their arguments. Messages are built only when one fails.
#pragma once

#include <initializer_list>
#include <string>

#include "base/check.h"
#include "tensor/backend.h"

namespace mynah::ops {

// A wanted size: a number, or a name for a size that is free.
struct Dim {
  // NOLINTBEGIN(google-explicit-constructor): a list of sizes reads as a shape
  Dim(int64_t wanted) : size(wanted) {}

  Dim(const char* free_name) : name(free_name) {}

  // NOLINTEND(google-explicit-constructor)

  [[nodiscard]] std::string str() const { return name != nullptr ? name : std::to_string(size); }

  int64_t size = 0;
  const char* name = nullptr;
};

// Checks that x is a tensor on the backend's device with the dtype and the sizes wanted.
void expect(const Backend& backend, const char* op, const char* argument, const Tensor& x,
            std::initializer_list<Dim> sizes, DType dtype = DType::F32);

// Checks device and dtype only.
void expect_type(const Backend& backend, const char* op, const char* argument, const Tensor& x,
                 DType dtype = DType::F32);

// Checks that x is one of f32, f16 and bf16.
void expect_float(const char* op, const char* argument, const Tensor& x);

// Checks that x is of a type that keys and values that grow are kept in: the same, or Q8_0.
void expect_cache_type(const char* op, const char* argument, const Tensor& x);

// Checks that the spans follow each other from 0 to `rows` without a gap.
void expect_consecutive(const char* op, const char* argument, std::span<const Span> spans,
                        int64_t rows);

// The same elements as (rows, d), d the last dimension. More than two strided dimensions are copied
// together first: rare, and it keeps every backend's loops two-dimensional.
Tensor as_rows(Backend& backend, const Tensor& x);

}  // namespace mynah::ops
