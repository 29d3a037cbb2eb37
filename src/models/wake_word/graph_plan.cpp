#include "models/wake_word/graph_plan.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah::wake_word {
namespace {

// What a model that runs on a microcontroller is far below.
constexpr uint64_t kMostMemory = uint64_t{1} << 20;
constexpr uint64_t kMostFrames = 64;
constexpr int kMostCode = 127;
constexpr int kLeastCode = -128;

enum StridedSliceOption : uint8_t {
  kBeginMask = 0,
  kEndMask = 1,
  kEllipsisMask = 2,
  kNewAxisMask = 3,
  kShrinkAxisMask = 4
};

constexpr int kCallOnceGraph = 0;
constexpr int kSharedName = 1;
constexpr int kConcatenationAxis = 0;

size_t bytes_of(const TfliteTensor& tensor) {
  return static_cast<size_t>(tensor.elements());
}

// Elements of one step along an axis, and how many such steps lie one after the other.
std::pair<size_t, size_t> around(const TfliteTensor& tensor, size_t axis) {
  size_t inner = 1;
  size_t outer = 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    (i < axis ? outer : inner) *= i == axis ? 1 : static_cast<size_t>(tensor.shape[i]);
  }
  return {inner, outer};
}

// A number of a table that may not be there.
Result<int32_t> option(const TfliteOperator& one, int field, int32_t absent) {
  return one.options ? one.options->number<int32_t>(field, absent) : absent;
}

// The name of the variable that a handle stands for.
Result<std::string_view> variable_name(const TfliteOperator& one) {
  return one.options ? one.options->text(kSharedName) : std::string_view();
}

}  // namespace

std::unexpected<Error> GraphPlan::refuse(std::string_view message, ErrorCode code) const {
  return fail(code, fmt::format("{}: {}", model_.file->path(), message));
}

const TfliteTensor& GraphPlan::tensor(int32_t index) const {
  return graph_.tensors[static_cast<size_t>(index)];
}

Status GraphPlan::wants(const TfliteOperator& one, size_t inputs, size_t outputs) const {
  if (one.inputs.size() != inputs || one.outputs.size() != outputs ||
      std::ranges::any_of(one.inputs, [](int32_t index) { return index < 0; })) {
    return refuse(fmt::format("{}: wanted {} inputs and {} outputs, found {} and {}", name(one.op),
                              inputs, outputs, one.inputs.size(), one.outputs.size()),
                  ErrorCode::InvalidInput);
  }
  return {};
}

Result<size_t> GraphPlan::new_memory(uint64_t bytes) {
  const size_t place = network_.initial_.size();
  if (bytes > kMostMemory - place) {
    return refuse(fmt::format("wanted a network of at most {} bytes of memory", kMostMemory));
  }
  network_.initial_.resize(place + bytes);
  return place;
}

Status GraphPlan::place_tensors() {
  for (const TfliteTensor& one : graph_.tensors) {
    // Constants are taken into the steps, numbers of shapes, too; what a handle stands for has a
    // place of its own.
    const bool is_code = one.type == TfliteType::I8 || one.type == TfliteType::U8;
    MYNAH_TRY(const size_t place,
              new_memory(is_code && one.bytes.empty() ? bytes_of(one) : size_t{0}));
    places_.push_back(place);
  }
  computed_.assign(graph_.tensors.size(), false);
  return {};
}

Result<size_t> GraphPlan::read_place(int32_t index) const {
  if (!computed_[static_cast<size_t>(index)]) {
    return refuse(
        fmt::format("tensor {} is used before it is computed", in_quotes(tensor(index).name)),
        ErrorCode::InvalidInput);
  }
  return places_[static_cast<size_t>(index)];
}

Result<size_t> GraphPlan::write_place(int32_t index) {
  const TfliteTensor& one = tensor(index);
  if ((one.type != TfliteType::I8 && one.type != TfliteType::U8) || !one.bytes.empty() ||
      computed_[static_cast<size_t>(index)]) {
    return refuse(fmt::format("wanted tensor {} in int8, computed once", in_quotes(one.name)));
  }
  computed_[static_cast<size_t>(index)] = true;
  return places_[static_cast<size_t>(index)];
}

Result<GraphPlan::Scale> GraphPlan::scale_of(int32_t index) const {
  const TfliteTensor& one = tensor(index);
  const bool is_unsigned = one.type == TfliteType::U8;
  if (one.scales.size() != 1 || !(one.scales[0] > 0) ||
      one.scales[0] > std::numeric_limits<float>::max() ||
      one.zero_points[0] < (is_unsigned ? 0 : kLeastCode) ||
      one.zero_points[0] > (is_unsigned ? kMostCode - kLeastCode : kMostCode)) {
    return refuse(fmt::format("wanted one scale and a zero point among the codes of tensor {}",
                              in_quotes(one.name)));
  }
  return Scale{.scale = one.scales[0], .zero = static_cast<int32_t>(one.zero_points[0])};
}

Result<std::vector<int32_t>> GraphPlan::whole_numbers(int32_t index) const {
  const TfliteTensor& one = tensor(index);
  if (one.type != TfliteType::I32 || one.bytes.empty()) {
    return refuse(fmt::format("wanted constant whole numbers in tensor {}", in_quotes(one.name)));
  }
  std::vector<int32_t> numbers(one.bytes.size() / sizeof(int32_t));
  std::memcpy(numbers.data(), one.bytes.data(), one.bytes.size());
  return numbers;
}

Result<size_t> GraphPlan::axis_of(int64_t axis, int32_t index) const {
  const auto rank = static_cast<int64_t>(tensor(index).shape.size());
  const int64_t counted = axis < 0 ? axis + rank : axis;
  if (counted < 0 || counted >= rank) {
    return refuse(fmt::format("wanted one of {} axes, found {}", rank, axis),
                  ErrorCode::InvalidInput);
  }
  return static_cast<size_t>(counted);
}

// The values that the variables begin with: a graph that is run once assigns them.
Status GraphPlan::keep_variables() {
  for (const TfliteOperator& call : graph_.operators) {
    if (call.op != TfliteOp::CallOnce) {
      continue;
    }
    MYNAH_TRY(const int32_t number, option(call, kCallOnceGraph, 0));
    if (number < 1 || std::cmp_greater_equal(number, model_.graphs.size())) {
      return refuse(
          fmt::format("wanted one of the file's {} graphs, found {}", model_.graphs.size(), number),
          ErrorCode::InvalidInput);
    }
    const TfliteGraph& first = model_.graphs[static_cast<size_t>(number)];
    std::map<int32_t, std::string_view> handles;
    for (const TfliteOperator& one : first.operators) {
      if (one.op == TfliteOp::VarHandle && one.outputs.size() == 1) {
        MYNAH_TRY(handles[one.outputs[0]], variable_name(one));
      } else if (one.op == TfliteOp::AssignVariable && one.inputs.size() == 2 &&
                 one.inputs[1] >= 0 && handles.contains(one.inputs[0])) {
        const TfliteTensor& value = first.tensors[static_cast<size_t>(one.inputs[1])];
        if (value.type != TfliteType::I8 || value.bytes.empty()) {
          return refuse("wanted variables that begin as constants in int8");
        }
        MYNAH_TRY(const size_t place, new_memory(value.bytes.size()));
        std::memcpy(network_.initial_.data() + place, value.bytes.data(), value.bytes.size());
        variables_[handles[one.inputs[0]]] = {place, value.bytes.size()};
      } else {
        return refuse(
            fmt::format("wanted the first graph to assign constants, found {}", name(one.op)));
      }
    }
  }
  return {};
}

Status GraphPlan::take_input() {
  if (graph_.inputs.size() != 1 || graph_.outputs.size() != 1) {
    return refuse("wanted one input and one output");
  }
  const int32_t index = graph_.inputs[0];
  const TfliteTensor& input = tensor(index);
  if (input.type != TfliteType::I8 || input.shape.size() != 3 || input.shape[0] != 1 ||
      input.shape[1] < 1 || std::cmp_greater(input.shape[1], kMostFrames) ||
      std::cmp_not_equal(input.shape[2], kFeatureChannels)) {
    return refuse(fmt::format("wanted 1 to {} frames of {} features in int8, found {}", kMostFrames,
                              kFeatureChannels, fmt::join(input.shape, " x ")));
  }
  network_.frames_per_step_ = static_cast<size_t>(input.shape[1]);
  MYNAH_TRY(const Scale scale, scale_of(index));
  network_.input_scale_ = input.scales[0];
  network_.input_zero_ = scale.zero;
  MYNAH_TRY(network_.input_, write_place(index));
  return {};
}

Status GraphPlan::take_output() {
  const int32_t index = graph_.outputs[0];
  const TfliteTensor& output = tensor(index);
  if (output.elements() != 1) {
    return refuse(fmt::format("wanted one probability, found {}", output.elements()));
  }
  MYNAH_TRY(const Scale scale, scale_of(index));
  network_.output_scale_ = output.scales[0];
  network_.output_zero_ = scale.zero;
  network_.output_unsigned_ = output.type == TfliteType::U8;
  MYNAH_TRY(network_.output_, read_place(index));
  return {};
}

Status GraphPlan::add_variable_copy(const TfliteOperator& one) {
  const bool reads = one.op == TfliteOp::ReadVariable;
  MYNAH_TRY_STATUS(wants(one, reads ? 1 : 2, reads ? 1 : 0));
  const auto handle = handles_.find(one.inputs[0]);
  const auto variable =
      handle == handles_.end() ? variables_.end() : variables_.find(handle->second);
  if (variable == variables_.end()) {
    return refuse("wanted a variable that the first graph gave a value", ErrorCode::InvalidInput);
  }
  const auto [place, bytes] = variable->second;
  const int32_t other = reads ? one.outputs[0] : one.inputs[1];
  if (bytes_of(tensor(other)) != bytes) {
    return refuse(
        fmt::format("wanted a variable of {} bytes, found {}", bytes, bytes_of(tensor(other))),
        ErrorCode::InvalidInput);
  }
  BlockCopy copy{.from = place, .to = place, .bytes = bytes};
  if (reads) {
    MYNAH_TRY(copy.to, write_place(other));
  } else {
    MYNAH_TRY(copy.from, read_place(other));
  }
  network_.steps_.emplace_back(copy);
  return {};
}

Status GraphPlan::add_reshape(const TfliteOperator& one) {
  if (one.inputs.empty() || one.inputs[0] < 0 || one.outputs.size() != 1 ||
      bytes_of(tensor(one.inputs[0])) != bytes_of(tensor(one.outputs[0]))) {
    return refuse("RESHAPE: wanted as many elements as before", ErrorCode::InvalidInput);
  }
  BlockCopy copy{.bytes = bytes_of(tensor(one.inputs[0]))};
  MYNAH_TRY(copy.from, read_place(one.inputs[0]));
  MYNAH_TRY(copy.to, write_place(one.outputs[0]));
  network_.steps_.emplace_back(copy);
  return {};
}

Status GraphPlan::add_axis_copy(int32_t from, size_t begin, int32_t to, size_t at, size_t size,
                                size_t axis) {
  const TfliteTensor& source = tensor(from);
  const TfliteTensor& target = tensor(to);
  const auto alike = [&](size_t i) { return i == axis || source.shape[i] == target.shape[i]; };
  bool fits = source.shape.size() == target.shape.size() && axis < source.shape.size() &&
              begin + size <= static_cast<size_t>(source.shape[axis]) &&
              at + size <= static_cast<size_t>(target.shape[axis]);
  for (size_t i = 0; fits && i < source.shape.size(); ++i) {
    fits = alike(i);
  }
  if (!fits) {
    return refuse(fmt::format("wanted tensors that differ in axis {} alone", axis),
                  ErrorCode::InvalidInput);
  }
  const auto [inner, outer] = around(source, axis);
  MYNAH_TRY(const size_t place, read_place(from));
  network_.steps_.emplace_back(
      BlockCopy{.from = place + (begin * inner),
                .to = places_[static_cast<size_t>(to)] + (at * inner),
                .bytes = size * inner,
                .count = outer,
                .from_apart = inner * static_cast<size_t>(source.shape[axis]),
                .to_apart = inner * static_cast<size_t>(target.shape[axis])});
  return {};
}

Status GraphPlan::add_concatenation(const TfliteOperator& one) {
  MYNAH_TRY_STATUS(wants(one, one.inputs.size(), 1));
  MYNAH_TRY(const int32_t named, option(one, kConcatenationAxis, 0));
  MYNAH_TRY(const size_t axis, axis_of(named, one.outputs[0]));
  size_t at = 0;
  for (const int32_t input : one.inputs) {
    if (axis >= tensor(input).shape.size()) {
      return refuse("CONCATENATION: wanted inputs of the same rank", ErrorCode::InvalidInput);
    }
    const auto size = static_cast<size_t>(tensor(input).shape[axis]);
    MYNAH_TRY_STATUS(add_axis_copy(input, 0, one.outputs[0], at, size, axis));
    at += size;
  }
  if (std::cmp_not_equal(at, tensor(one.outputs[0]).shape[axis])) {
    return refuse("CONCATENATION: wanted inputs that fill the output", ErrorCode::InvalidInput);
  }
  MYNAH_TRY_STATUS(write_place(one.outputs[0]));
  return {};
}

Status GraphPlan::add_slice(const TfliteOperator& one) {
  MYNAH_TRY_STATUS(wants(one, 4, 1));
  const std::vector<int32_t>& shape = tensor(one.inputs[0]).shape;
  MYNAH_TRY(const std::vector<int32_t> begins, whole_numbers(one.inputs[1]));
  MYNAH_TRY(const std::vector<int32_t> steps, whole_numbers(one.inputs[3]));
  MYNAH_TRY(const int32_t begin_mask, option(one, kBeginMask, 0));
  MYNAH_TRY(const int32_t others, option(one, kEllipsisMask, 0));
  MYNAH_TRY(const int32_t new_axes, option(one, kNewAxisMask, 0));
  MYNAH_TRY(const int32_t lost_axes, option(one, kShrinkAxisMask, 0));
  const std::vector<int32_t>& cut = tensor(one.outputs[0]).shape;
  if (begins.size() != shape.size() || steps.size() != shape.size() || cut.size() != shape.size() ||
      others != 0 || new_axes != 0 || lost_axes != 0 ||
      std::ranges::any_of(steps, [](int32_t step) { return step != 1; })) {
    return refuse("STRIDED_SLICE: wanted a part without gaps along existing axes");
  }
  // The end is where the output's size says: it was computed from the same numbers.
  std::optional<size_t> axis;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != cut[i]) {
      if (axis) {
        return refuse("STRIDED_SLICE: wanted a part along one axis");
      }
      axis = i;
    }
  }
  const size_t along = axis.value_or(0);
  if (shape.empty()) {
    return refuse("STRIDED_SLICE: wanted an axis", ErrorCode::InvalidInput);
  }
  const bool from_start = (static_cast<uint32_t>(begin_mask) >> along & 1U) != 0;
  int64_t begin = from_start ? 0 : begins[along];
  begin += begin < 0 ? shape[along] : 0;
  if (begin < 0 || begin + cut[along] > shape[along]) {
    return refuse(fmt::format("STRIDED_SLICE: wanted {} steps from {} on among {}", cut[along],
                              begin, shape[along]),
                  ErrorCode::InvalidInput);
  }
  MYNAH_TRY_STATUS(add_axis_copy(one.inputs[0], static_cast<size_t>(begin), one.outputs[0], 0,
                                 static_cast<size_t>(cut[along]), along));
  MYNAH_TRY_STATUS(write_place(one.outputs[0]));
  return {};
}

Status GraphPlan::add_split(const TfliteOperator& one) {
  MYNAH_TRY_STATUS(wants(one, 3, one.outputs.size()));
  MYNAH_TRY(const std::vector<int32_t> axes, whole_numbers(one.inputs[2]));
  MYNAH_TRY(const size_t axis, axis_of(axes.front(), one.inputs[0]));
  size_t at = 0;
  for (const int32_t output : one.outputs) {
    if (axis >= tensor(output).shape.size()) {
      return refuse("SPLIT_V: wanted outputs of the same rank", ErrorCode::InvalidInput);
    }
    const auto size = static_cast<size_t>(tensor(output).shape[axis]);
    MYNAH_TRY_STATUS(add_axis_copy(one.inputs[0], at, output, 0, size, axis));
    MYNAH_TRY_STATUS(write_place(output));
    at += size;
  }
  return {};
}

Status GraphPlan::add(const TfliteOperator& one) {
  switch (one.op) {
    case TfliteOp::CallOnce:
      return {};  // keep_variables
    case TfliteOp::VarHandle: {
      MYNAH_TRY_STATUS(wants(one, 0, 1));
      MYNAH_TRY(handles_[one.outputs[0]], variable_name(one));
      return {};
    }
    case TfliteOp::ReadVariable:
    case TfliteOp::AssignVariable:
      return add_variable_copy(one);
    case TfliteOp::Reshape:
      return add_reshape(one);
    case TfliteOp::Concatenation:
      return add_concatenation(one);
    case TfliteOp::StridedSlice:
      return add_slice(one);
    case TfliteOp::SplitV:
      return add_split(one);
    case TfliteOp::Conv2d:
    case TfliteOp::DepthwiseConv2d:
      return add_convolution(one);
    case TfliteOp::FullyConnected:
      return add_product(one);
    case TfliteOp::Logistic:
    case TfliteOp::Quantize:
      return add_lookup(one);
    default:
      return refuse(
          fmt::format("{} is nothing that a wake word's network does here", name(one.op)));
  }
}

Result<WakeNetwork> GraphPlan::build() {
  MYNAH_TRY_STATUS(place_tensors());
  MYNAH_TRY_STATUS(keep_variables());
  MYNAH_TRY_STATUS(take_input());
  for (const TfliteOperator& one : graph_.operators) {
    MYNAH_TRY_STATUS(add(one));
  }
  MYNAH_TRY_STATUS(take_output());
  return std::move(network_);
}

}  // namespace mynah::wake_word
