#include "formats/tflite.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"

namespace mynah {
namespace {

constexpr uint32_t kTfliteVersion = 3;
// More than models that run on a microcontroller have; many offsets may lead to one table, so that
// the file's size alone bounds nothing.
constexpr size_t kMostGraphs = 16;
constexpr size_t kMostBuffers = 4096;
constexpr size_t kMostTensors = 1024;
constexpr size_t kMostOperators = 1024;
constexpr size_t kMostOperatorCodes = 256;
constexpr size_t kMostOperands = 64;
constexpr size_t kMostRank = 8;
constexpr size_t kMostChannels = 65536;
// An operator that stands for another's own, which no builtin is.
constexpr int32_t kCustomOp = 32;

enum ModelPart : uint8_t { kVersion = 0, kOperatorCodes = 1, kSubgraphs = 2, kBuffers = 4 };

enum CodePart : uint8_t { kOldCode = 0, kCode = 3 };

enum GraphPart : uint8_t {
  kGraphTensors = 0,
  kGraphInputs = 1,
  kGraphOutputs = 2,
  kGraphOperators = 3
};

enum TensorPart : uint8_t {
  kTensorShape = 0,
  kTensorType = 1,
  kTensorBuffer = 2,
  kTensorName = 3,
  kTensorQuantization = 4,
  kTensorSparsity = 6
};

enum QuantizationPart : uint8_t { kScale = 2, kZeroPoint = 3, kQuantizedDimension = 6 };

enum BufferPart : uint8_t { kBufferData = 0, kBufferOffset = 1 };

enum OperatorPart : uint8_t {
  kOpcodeIndex = 0,
  kOperatorInputs = 1,
  kOperatorOutputs = 2,
  kOperatorOptions = 4
};

// Bytes of one element; 0: it has none, or nobody knows.
uint64_t element_bytes(TfliteType type) {
  switch (type) {
    case TfliteType::F32:
    case TfliteType::I32:
      return sizeof(int32_t);
    case TfliteType::U8:
    case TfliteType::I8:
      return 1;
    default:
      return 0;
  }
}

class TfliteReader {
 public:
  explicit TfliteReader(const FlatTable& root) : root_(root) {}

  Result<std::vector<TfliteGraph>> read() {
    MYNAH_TRY(const uint32_t version, root_.number<uint32_t>(kVersion, 0));
    if (version != kTfliteVersion) {
      return root_.fail_here(
          fmt::format("wanted version {} of the schema, found {}", kTfliteVersion, version),
          ErrorCode::Unsupported);
    }
    MYNAH_TRY(const std::vector<FlatTable> codes, root_.tables(kOperatorCodes, kMostOperatorCodes));
    for (const FlatTable& code : codes) {
      MYNAH_TRY(const TfliteOp op, read_code(code));
      codes_.push_back(op);
    }
    MYNAH_TRY(buffers_, root_.tables(kBuffers, kMostBuffers));
    MYNAH_TRY(const std::vector<FlatTable> tables, root_.tables(kSubgraphs, kMostGraphs));
    if (tables.empty()) {
      return root_.fail_here("wanted a graph, found none");
    }
    std::vector<TfliteGraph> graphs;
    for (const FlatTable& table : tables) {
      MYNAH_TRY(TfliteGraph graph, read_graph(table));
      graphs.push_back(std::move(graph));
    }
    return graphs;
  }

 private:
  // Newer files have the code in a field of four bytes; the one of a byte then has its least bits,
  // or 127.
  static Result<TfliteOp> read_code(const FlatTable& table) {
    MYNAH_TRY(const int8_t old_code, table.number<int8_t>(kOldCode, 0));
    MYNAH_TRY(const int32_t code, table.number<int32_t>(kCode, 0));
    const int32_t op = std::max<int32_t>(old_code, code);
    if (op == kCustomOp) {
      return table.fail_here("custom operators are not known here", ErrorCode::Unsupported);
    }
    return static_cast<TfliteOp>(op);
  }

  Result<TfliteGraph> read_graph(const FlatTable& table) const {
    TfliteGraph graph;
    MYNAH_TRY(const std::vector<FlatTable> tensors, table.tables(kGraphTensors, kMostTensors));
    for (const FlatTable& tensor : tensors) {
      MYNAH_TRY(TfliteTensor one, read_tensor(tensor));
      graph.tensors.push_back(std::move(one));
    }
    MYNAH_TRY(graph.inputs, read_indices(table, kGraphInputs, tensors.size(), 0));
    MYNAH_TRY(graph.outputs, read_indices(table, kGraphOutputs, tensors.size(), 0));
    MYNAH_TRY(const std::vector<FlatTable> operators,
              table.tables(kGraphOperators, kMostOperators));
    for (const FlatTable& one : operators) {
      MYNAH_TRY(TfliteOperator read, read_operator(one, tensors.size()));
      graph.operators.push_back(std::move(read));
    }
    return graph;
  }

  // Indices from `least` to below `tensors`.
  static Result<std::vector<int32_t>> read_indices(const FlatTable& table, int field,
                                                   size_t tensors, int32_t least) {
    MYNAH_TRY(const std::span<const std::byte> raw, table.vector(field, sizeof(int32_t)));
    if (raw.size() / sizeof(int32_t) > kMostOperands) {
      return table.fail_here(fmt::format("wanted at most {} inputs or outputs, found {}",
                                         kMostOperands, raw.size() / sizeof(int32_t)));
    }
    MYNAH_TRY(std::vector<int32_t> indices, table.numbers<int32_t>(field));
    for (const int32_t index : indices) {
      if (index < least || std::cmp_greater_equal(index, tensors)) {
        return table.fail_here(
            fmt::format("wanted one of the graph's {} tensors, found {}", tensors, index));
      }
    }
    return indices;
  }

  Result<TfliteOperator> read_operator(const FlatTable& table, size_t tensors) const {
    TfliteOperator one;
    MYNAH_TRY(const uint32_t code, table.number<uint32_t>(kOpcodeIndex, 0));
    if (code >= codes_.size()) {
      return table.fail_here(
          fmt::format("wanted one of {} kinds of operators, found {}", codes_.size(), code));
    }
    one.op = codes_[code];
    MYNAH_TRY(one.inputs, read_indices(table, kOperatorInputs, tensors, -1));
    MYNAH_TRY(one.outputs, read_indices(table, kOperatorOutputs, tensors, 0));
    MYNAH_TRY(one.options, table.table(kOperatorOptions));
    return one;
  }

  Result<TfliteTensor> read_tensor(const FlatTable& table) const {
    TfliteTensor tensor;
    MYNAH_TRY(tensor.name, table.text(kTensorName));
    MYNAH_TRY(const int8_t type, table.number<int8_t>(kTensorType, 0));
    tensor.type = static_cast<TfliteType>(type);
    MYNAH_TRY(const std::span<const std::byte> shape, table.vector(kTensorShape, sizeof(int32_t)));
    if (shape.size() / sizeof(int32_t) > kMostRank) {
      return table.fail_here(fmt::format("wanted at most {} dimensions, found {}", kMostRank,
                                         shape.size() / sizeof(int32_t)));
    }
    MYNAH_TRY(tensor.shape, table.numbers<int32_t>(kTensorShape));
    uint64_t elements = 1;
    for (const int32_t size : tensor.shape) {
      const auto product = size < 0 ? std::nullopt : checked_multiply(elements, uint64_t(size));
      if (!product || *product > std::numeric_limits<int32_t>::max()) {
        return table.fail_here(fmt::format("wanted sizes whose product 31 bits hold, found {}",
                                           fmt::join(tensor.shape, " x ")));
      }
      elements = *product;
    }
    MYNAH_TRY(const auto sparsity, table.table(kTensorSparsity));
    if (sparsity) {
      return table.fail_here("sparse tensors are not read", ErrorCode::Unsupported);
    }
    MYNAH_TRY_STATUS(read_quantization(table, tensor));
    MYNAH_TRY_STATUS(read_bytes(table, elements, tensor));
    return tensor;
  }

  static Status read_quantization(const FlatTable& table, TfliteTensor& tensor) {
    MYNAH_TRY(const auto quantization, table.table(kTensorQuantization));
    if (!quantization) {
      return {};
    }
    for (const auto& [field, bytes] :
         {std::pair(kScale, sizeof(float)), std::pair(kZeroPoint, sizeof(int64_t))}) {
      MYNAH_TRY(const std::span<const std::byte> raw, quantization->vector(field, bytes));
      if (raw.size() / bytes > kMostChannels) {
        return quantization->fail_here(
            fmt::format("wanted at most {} scales, found {}", kMostChannels, raw.size() / bytes));
      }
    }
    MYNAH_TRY(tensor.scales, quantization->numbers<float>(kScale));
    MYNAH_TRY(tensor.zero_points, quantization->numbers<int64_t>(kZeroPoint));
    MYNAH_TRY(tensor.channel_axis, quantization->number<int32_t>(kQuantizedDimension, 0));
    if (tensor.scales.size() != tensor.zero_points.size()) {
      return quantization->fail_here(
          fmt::format("wanted a zero point for each scale, found {} and {}",
                      tensor.zero_points.size(), tensor.scales.size()));
    }
    return {};
  }

  Status read_bytes(const FlatTable& table, uint64_t elements, TfliteTensor& tensor) const {
    MYNAH_TRY(const uint32_t buffer, table.number<uint32_t>(kTensorBuffer, 0));
    if (buffer >= buffers_.size()) {
      return table.fail_here(
          fmt::format("wanted one of the file's {} buffers, found {}", buffers_.size(), buffer));
    }
    // One of more than two gigabytes lies behind the flatbuffer; 0 and 1 say that it does not.
    MYNAH_TRY(const uint64_t offset, buffers_[buffer].number<uint64_t>(kBufferOffset, 0));
    if (offset > 1) {
      return table.fail_here("constants behind the flatbuffer are not read",
                             ErrorCode::Unsupported);
    }
    MYNAH_TRY(tensor.bytes, buffers_[buffer].vector(kBufferData, 1));
    const uint64_t element = element_bytes(tensor.type);
    if (!tensor.bytes.empty() && element != 0 && tensor.bytes.size() != elements * element) {
      return table.fail_here(fmt::format("tensor {}: wanted {} bytes, found {}",
                                         in_quotes(tensor.name), elements * element,
                                         tensor.bytes.size()));
    }
    return {};
  }

  const FlatTable& root_;
  std::vector<TfliteOp> codes_;
  std::vector<FlatTable> buffers_;
};

}  // namespace

std::string name(TfliteOp op) {
  constexpr std::array<std::pair<TfliteOp, std::string_view>, 13> kNames = {{
      {TfliteOp::Concatenation, "CONCATENATION"},
      {TfliteOp::Conv2d, "CONV_2D"},
      {TfliteOp::DepthwiseConv2d, "DEPTHWISE_CONV_2D"},
      {TfliteOp::FullyConnected, "FULLY_CONNECTED"},
      {TfliteOp::Logistic, "LOGISTIC"},
      {TfliteOp::Reshape, "RESHAPE"},
      {TfliteOp::StridedSlice, "STRIDED_SLICE"},
      {TfliteOp::SplitV, "SPLIT_V"},
      {TfliteOp::Quantize, "QUANTIZE"},
      {TfliteOp::CallOnce, "CALL_ONCE"},
      {TfliteOp::VarHandle, "VAR_HANDLE"},
      {TfliteOp::ReadVariable, "READ_VARIABLE"},
      {TfliteOp::AssignVariable, "ASSIGN_VARIABLE"},
  }};
  const auto* const found =
      std::ranges::find(kNames, op, &std::pair<TfliteOp, std::string_view>::first);
  return found == kNames.end() ? fmt::format("operator {}", static_cast<int32_t>(op))
                               : std::string(found->second);
}

int64_t TfliteTensor::elements() const {
  int64_t product = 1;
  for (const int32_t size : shape) {
    product *= size;
  }
  return product;
}

Result<TfliteModel> read_tflite(const std::shared_ptr<const MappedFile>& file) {
  MYNAH_TRY(const FlatTable root, FlatTable::root(file->bytes(), file->path(), "TFL3"));
  TfliteModel model;
  model.file = file;
  MYNAH_TRY(model.graphs, TfliteReader(root).read());
  return model;
}

}  // namespace mynah
