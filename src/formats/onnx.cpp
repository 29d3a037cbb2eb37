#include "formats/onnx.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "formats/onnx_tensor.h"
#include "formats/protobuf.h"
#include "formats/tensor_file_builder.h"

namespace mynah {
namespace {

// Bodies inside bodies, at most: exporters make two or three levels.
constexpr int kMaxGraphDepth = 32;

// Field numbers: onnx.proto.
enum ModelField : uint8_t { kModelGraph = 7, kModelOpset = 8, kModelMetadata = 14 };

enum GraphField : uint8_t {
  kGraphNode = 1,
  kGraphName = 2,
  kGraphInitializer = 5,
  kGraphInput = 11,
  kGraphOutput = 12,
  kGraphSparse = 15
};

enum NodeField : uint8_t {
  kNodeInput = 1,
  kNodeOutput = 2,
  kNodeName = 3,
  kNodeOpType = 4,
  kNodeAttribute = 5
};

enum AttributeField : uint8_t {
  kAttributeName = 1,
  kAttributeFloat = 2,
  kAttributeInt = 3,
  kAttributeString = 4,
  kAttributeTensor = 5,
  kAttributeGraph = 6,
  kAttributeFloats = 7,
  kAttributeInts = 8,
  kAttributeStrings = 9,
  kAttributeTensors = 10,
  kAttributeGraphs = 11
};

double float_value(uint64_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits));
}

// The fields of the message, in order.
Result<std::vector<ProtoField>> all_fields(ProtoReader message) {
  std::vector<ProtoField> fields;
  while (true) {
    MYNAH_TRY(const auto field, message.next());
    if (!field) {
      return fields;
    }
    fields.push_back(*field);
  }
}

Result<std::string> read_text(const ProtoReader& message, const ProtoField& field,
                              std::string_view what) {
  MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, what));
  return std::string(field.text());
}

// Field 1 of a message (a ValueInfoProto's name, a StringStringEntryProto's key) and field 2.
Result<std::pair<std::string, std::string>> read_pair(const ProtoReader& message) {
  MYNAH_TRY(const std::vector<ProtoField> fields, all_fields(message));
  std::pair<std::string, std::string> pair;
  for (const ProtoField& field : fields) {
    if (field.type == WireType::Bytes && field.number == 1) {
      pair.first = field.text();
    } else if (field.type == WireType::Bytes && field.number == 2) {
      pair.second = field.text();
    }
  }
  return pair;
}

// Walks the graphs of one model; every body goes one level deeper.
class GraphReader {
 public:
  explicit GraphReader(TensorFileBuilder& builder) : builder_(builder) {}

  Result<OnnxGraph> read(const ProtoReader& message, std::string scope) {
    if (++depth_ > kMaxGraphDepth) {
      return message.fail_here(
          fmt::format("wanted at most {} graphs inside each other, found more", kMaxGraphDepth));
    }
    OnnxGraph graph;
    graph.scope = std::move(scope);
    MYNAH_TRY(const std::vector<ProtoField> fields, all_fields(message));
    for (const ProtoField& field : fields) {
      MYNAH_TRY_STATUS(read_graph_field(message, field, graph));
    }
    --depth_;
    return graph;
  }

 private:
  Status read_graph_field(const ProtoReader& message, const ProtoField& field, OnnxGraph& graph) {
    switch (field.number) {
      case kGraphNode: {
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "a node"));
        MYNAH_TRY(OnnxNode node, read_node(message.nested(field), graph));
        graph.nodes.push_back(std::move(node));
        return {};
      }
      case kGraphName: {
        MYNAH_TRY(graph.name, read_text(message, field, "a graph's name"));
        return {};
      }
      case kGraphInitializer: {
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "an initialiser"));
        MYNAH_TRY_STATUS(read_onnx_tensor(message.nested(field), graph.scope, "", builder_));
        return {};
      }
      case kGraphInput:
      case kGraphOutput: {
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "an input or output"));
        MYNAH_TRY(auto pair, read_pair(message.nested(field)));
        (field.number == kGraphInput ? graph.inputs : graph.outputs)
            .push_back(std::move(pair.first));
        return {};
      }
      case kGraphSparse:
        return message.fail_here("sparse initialisers are not read", ErrorCode::Unsupported);
      default:
        return {};
    }
  }

  Result<OnnxNode> read_node(const ProtoReader& message, const OnnxGraph& graph) {
    MYNAH_TRY(const std::vector<ProtoField> fields, all_fields(message));
    OnnxNode node;
    for (const ProtoField& field : fields) {
      MYNAH_TRY_STATUS(read_node_field(message, field, node));
    }
    const std::string label =
        node.name.empty() ? fmt::format("{}_{}", node.op_type, graph.nodes.size()) : node.name;
    if (graph.scope.size() + label.size() > kMaxTensorNameBytes) {
      return message.fail_here("wanted shorter names of nodes, found " + in_quotes(label));
    }
    for (const ProtoField& field : fields) {
      if (field.number == kNodeAttribute) {
        MYNAH_TRY(OnnxAttribute attribute,
                  read_attribute(message.nested(field), node, label, graph.scope));
        node.attributes.push_back(std::move(attribute));
      }
    }
    return node;
  }

  // All but the attributes, which are called after the node.
  static Status read_node_field(const ProtoReader& message, const ProtoField& field,
                                OnnxNode& node) {
    switch (field.number) {
      case kNodeInput:
        node.inputs.emplace_back(field.text());
        break;
      case kNodeOutput:
        node.outputs.emplace_back(field.text());
        break;
      case kNodeName:
        node.name = field.text();
        break;
      case kNodeOpType:
        node.op_type = field.text();
        break;
      case kNodeAttribute:
        break;
      default:
        return {};
    }
    return message.expect(field, WireType::Bytes, "a field of a node");
  }

  Result<OnnxAttribute> read_attribute(ProtoReader message, const OnnxNode& node,
                                       const std::string& label, const std::string& scope) {
    MYNAH_TRY(const std::vector<ProtoField> fields, all_fields(message));
    OnnxAttribute attribute;
    // The name first: tensors and bodies are called by it, and it may stand after them.
    for (const ProtoField& field : fields) {
      if (field.number == kAttributeName) {
        attribute.name = field.text();
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "an attribute's name"));
      }
    }
    const std::string full = fmt::format("{}.{}", label, attribute.name);
    for (const ProtoField& field : fields) {
      if (field.number == kAttributeTensor) {
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "a tensor"));
        const bool constant = node.op_type == "Constant" && !node.outputs.empty();
        MYNAH_TRY(attribute.tensor,
                  read_onnx_tensor(message.nested(field), scope,
                                   constant ? node.outputs.front() : full, builder_));
      } else if (field.number == kAttributeGraph || field.number == kAttributeGraphs) {
        MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "a graph"));
        MYNAH_TRY(OnnxGraph body, read(message.nested(field), scope + full + "/"));
        attribute.graphs.push_back(std::move(body));
      } else {
        MYNAH_TRY_STATUS(read_plain(message, field, attribute));
      }
    }
    return attribute;
  }

  static Status read_plain(ProtoReader& message, const ProtoField& field,
                           OnnxAttribute& attribute) {
    std::vector<uint64_t> values;
    switch (field.number) {
      case kAttributeTensors:
        return message.fail_here("attributes of several tensors are not read",
                                 ErrorCode::Unsupported);
      case kAttributeFloat:
        attribute.number = float_value(field.value);
        return message.expect(field, WireType::Fixed32, "a float");
      case kAttributeInt:
        attribute.integer = static_cast<int64_t>(field.value);
        return message.expect(field, WireType::Varint, "an integer");
      case kAttributeString:
        attribute.text = field.text();
        return message.expect(field, WireType::Bytes, "a string");
      case kAttributeStrings:
        attribute.texts.emplace_back(field.text());
        return message.expect(field, WireType::Bytes, "a string");
      case kAttributeFloats:
        MYNAH_TRY_STATUS(message.append_numbers(field, WireType::Fixed32, values));
        std::ranges::transform(values, std::back_inserter(attribute.numbers), float_value);
        return {};
      case kAttributeInts:
        MYNAH_TRY_STATUS(message.append_numbers(field, WireType::Varint, values));
        std::ranges::transform(values, std::back_inserter(attribute.integers),
                               [](uint64_t value) { return static_cast<int64_t>(value); });
        return {};
      default:
        return {};
    }
  }

  TensorFileBuilder& builder_;
  int depth_ = 0;
};

}  // namespace

const OnnxAttribute* OnnxNode::find(std::string_view attribute) const {
  const auto found = std::ranges::find(attributes, attribute, &OnnxAttribute::name);
  return found == attributes.end() ? nullptr : &*found;
}

Result<OnnxModel> read_onnx_model(const std::shared_ptr<const MappedFile>& file) {
  TensorFileBuilder builder("onnx", file);
  ProtoReader message(file->bytes(), file->path());
  MYNAH_TRY(const std::vector<ProtoField> fields, all_fields(message));
  OnnxModel model;
  bool has_graph = false;
  bool has_opset = false;
  for (const ProtoField& field : fields) {
    if (field.number == kModelGraph && has_graph) {
      return message.fail_here("wanted one graph, found two");
    }
    if (field.number == kModelGraph) {
      MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "the graph"));
      MYNAH_TRY(model.graph, GraphReader(builder).read(message.nested(field), ""));
      has_graph = true;
    } else if (field.number == kModelOpset) {
      has_opset = true;
    } else if (field.number == kModelMetadata) {
      MYNAH_TRY_STATUS(message.expect(field, WireType::Bytes, "metadata"));
      MYNAH_TRY(auto pair, read_pair(message.nested(field)));
      MYNAH_TRY_STATUS(builder.set(pair.first, std::move(pair.second)));
    }
  }
  // Every model names its operator set, usually last: without it the file is cut, or another's.
  if (!has_graph || !has_opset) {
    return message.fail_here(
        fmt::format("wanted an ONNX model's graph and opset_import, found {}; "
                    "the file is cut short or not an ONNX model",
                    has_graph ? "no opset_import" : "no graph"));
  }
  model.file = std::move(builder).finish();
  return model;
}

Result<TensorFile> read_onnx(const std::shared_ptr<const MappedFile>& file) {
  MYNAH_TRY(OnnxModel model, read_onnx_model(file));
  return std::move(model.file);
}

}  // namespace mynah
