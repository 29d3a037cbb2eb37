// The check that convolutions make of what stands in x's place.
#pragma once

#include "ops/expect.h"
#include "tensor/op_params.h"

namespace mynah::ops {

// `input` may be null; x has `channels`.
inline void expect_input(const Backend& backend, const char* op, const Conv1dInput* input,
                         const Lengths& lengths, int64_t channels) {
  if (input == nullptr) {
    return;
  }
  if (input->factors != nullptr) {
    expect(backend, op, "factors", *input->factors, {lengths.count(), 2 * channels});
  }
  if (input->alpha != nullptr) {
    expect(backend, op, "alpha", *input->alpha, {channels});
  }
}

}  // namespace mynah::ops
