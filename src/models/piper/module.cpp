#include "models/piper/module.h"

#include <fmt/format.h>

namespace mynah::piper {

Module Module::operator/(std::string_view name) const {
  Module below(weights_ / name, *steps_);
  below.path_ = path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
  return below;
}

Module Module::operator/(int64_t index) const {
  return *this / std::to_string(index);
}

bool Module::has(std::string_view name) const {
  return weights_.has(name) || weights_.has(fmt::format("{}.weight", name));
}

int64_t Module::count(std::string_view parameter) const {
  int64_t count = 0;
  while (weights_.has(fmt::format("{}.{}", count, parameter))) {
    ++count;
  }
  return count;
}

Result<Shape> Module::shape(std::string_view name, int rank) const {
  MYNAH_TRY(const Shape shape, weights_.shape(name));
  if (shape.rank() != rank || shape.elements() == 0) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}.{}: wanted {} dimensions, found {}", path_,
                                                     name, rank, shape.str()));
  }
  return shape;
}

Result<Steps> Module::steps() const {
  const auto found = steps_->find(path_);
  if (found == steps_->end()) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("wanted a convolution {}, found none in the graph", path_));
  }
  const Steps& steps = found->second;
  constexpr int64_t kMost = 1 << 16;  // far beyond any voice's
  const auto possible = [](int64_t number, int64_t least) {
    return number >= least && number <= kMost;
  };
  if (!possible(steps.stride, 1) || !possible(steps.padding, 0) || !possible(steps.dilation, 1) ||
      !possible(steps.groups, 1) || !possible(steps.output_padding, 0)) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}: stride {}, padding {}, dilation {} or groups {} is impossible",
                            path_, steps.stride, steps.padding, steps.dilation, steps.groups));
  }
  return steps;
}

Result<int64_t> Module::out_features(bool transposed) const {
  MYNAH_TRY(const Shape weight, shape("weight", 3));
  return weight[transposed ? 1 : 0];
}

Result<Conv1d> Module::conv(const Channels& channels) const {
  MYNAH_TRY(const Shape weight, shape("weight", 3));
  MYNAH_TRY(const Steps own, steps());
  const int64_t kernel = weight[2];
  const int64_t reach = own.dilation * (kernel - 1);
  if (own.stride != 1 || reach % 2 != 0 || (!channels.centred && 2 * own.padding != reach) ||
      channels.in % own.groups != 0 || weight[0] % own.groups != 0) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: wanted a convolution that keeps the length, found kernel {}, "
                            "stride {}, padding {}, dilation {}, {} groups of {} to {} channels",
                            path_, kernel, own.stride, own.padding, own.dilation, own.groups,
                            channels.in, weight[0]));
  }
  if (channels.out != 0 && channels.out != weight[0]) {
    return fail(ErrorCode::InvalidInput, fmt::format("{}: wanted {} channels out, found {}", path_,
                                                     channels.out, weight[0]));
  }
  return Conv1d::load(weights_, {.in = channels.in,
                                 .out = weight[0],
                                 .kernel = kernel,
                                 .padding = reach / 2,
                                 .dilation = own.dilation,
                                 .groups = own.groups});
}

Result<ConvTranspose1d> Module::conv_transpose(int64_t in) const {
  MYNAH_TRY(const Shape weight, shape("weight", 3));
  MYNAH_TRY(const Steps own, steps());
  return ConvTranspose1d::load(weights_, {.in = in,
                                          .out = weight[1] * own.groups,
                                          .kernel = {.kernel = weight[2],
                                                     .stride = own.stride,
                                                     .padding = own.padding,
                                                     .output_padding = own.output_padding,
                                                     .groups = own.groups}});
}

}  // namespace mynah::piper
