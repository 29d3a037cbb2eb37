#include "formats/pytorch.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/pickle.h"
#include "formats/strided_copy.h"
#include "formats/tensor_file_builder.h"
#include "formats/zip.h"

namespace mynah {
namespace {

constexpr std::string_view kPickleName = "data.pkl";

// A state_dict's pickle has about 150 bytes a tensor: this is a hundred thousand of them.
constexpr uint64_t kMaxPickleBytes = uint64_t{16} << 20U;

// Dictionaries and lists inside each other.
constexpr int kMaxDepth = 64;

// Times that each value may be met on average: a pickle may share one list many times, and lists of
// such lists take exponentially longer to walk than to read.
constexpr int64_t kMaxVisitsPerValue = 16;

// Everything that a checkpoint's pickle may name.
constexpr std::array<std::string_view, 30> kKnownGlobals = {
    "collections OrderedDict",
    "torch Size",
    "torch._utils _rebuild_tensor",
    "torch._utils _rebuild_tensor_v2",
    "torch._utils _rebuild_parameter",
    "torch FloatStorage",
    "torch HalfStorage",
    "torch BFloat16Storage",
    "torch DoubleStorage",
    "torch CharStorage",
    "torch ByteStorage",
    "torch BoolStorage",
    "torch ShortStorage",
    "torch IntStorage",
    "torch LongStorage",
    "torch float32",
    "torch float",
    "torch float16",
    "torch half",
    "torch bfloat16",
    "torch float64",
    "torch double",
    "torch int8",
    "torch uint8",
    "torch bool",
    "torch int16",
    "torch int32",
    "torch int64",
    "torch strided",
    "torch.serialization _get_layout",
};

struct StorageType {
  std::string_view global;
  ElementType type;
  size_t bytes;
};

constexpr std::array<StorageType, 10> kStorageTypes = {{
    {"torch FloatStorage", {DType::F32, Widening::None}, 4},
    {"torch HalfStorage", {DType::F16, Widening::None}, 2},
    {"torch BFloat16Storage", {DType::BF16, Widening::None}, 2},
    {"torch DoubleStorage", {DType::F32, Widening::F64ToF32}, 8},
    {"torch CharStorage", {DType::I8, Widening::None}, 1},
    {"torch ByteStorage", {DType::U8, Widening::None}, 1},
    {"torch BoolStorage", {DType::U8, Widening::None}, 1},
    {"torch ShortStorage", {DType::I32, Widening::I16ToI32}, 2},
    {"torch IntStorage", {DType::I32, Widening::None}, 4},
    {"torch LongStorage", {DType::I64, Widening::None}, 8},
}};

struct Storage {
  StorageType type;
  std::span<const std::byte> bytes;
};

// Walks an unpickled checkpoint and adds what it holds.
class CheckpointReader {
 public:
  CheckpointReader(const ZipArchive& archive, std::string prefix, const Pickle& pickle,
                   TensorFileBuilder& builder)
      : archive_(archive),
        prefix_(std::move(prefix)),
        pickle_(pickle),
        builder_(builder),
        visits_left_(static_cast<int64_t>(pickle.values.size()) * kMaxVisitsPerValue) {}

  Status add(const std::string& name, PickleIndex index, int depth) {
    if (depth > kMaxDepth || --visits_left_ < 0 || name.size() > kMaxTensorNameBytes) {
      return complain(name, "wanted a checkpoint of fewer values, less deep");
    }
    const PickleValue& value = pickle_[index];
    switch (value.kind) {
      case PickleKind::Dict:
        return add_dictionary(name, value, depth);
      case PickleKind::List:
      case PickleKind::Tuple:
        return add_list(name, value, depth);
      case PickleKind::Call:
        return add_call(name, value, depth);
      case PickleKind::None:
      case PickleKind::Persistent:
        return {};
      default:
        return add_scalar(name, value);
    }
  }

 private:
  [[nodiscard]] std::unexpected<Error> complain(std::string_view name,
                                                std::string_view message) const {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}, value {}: {}", archive_.path(), in_quotes(name), message));
  }

  static std::string join(const std::string& name, std::string_view key) {
    return name.empty() ? std::string(key) : fmt::format("{}.{}", name, key);
  }

  Status add_dictionary(const std::string& name, const PickleValue& value, int depth) {
    for (size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const PickleValue& key = pickle_[value.items[i]];
      std::string path;
      if (key.kind == PickleKind::Text) {
        path = join(name, key.text);
      } else if (key.kind == PickleKind::Integer) {
        path = join(name, std::to_string(key.integer));
      } else {
        return complain(name, "wanted strings or integers as keys");
      }
      MYNAH_TRY_STATUS(add(path, value.items[i + 1], depth + 1));
    }
    return {};
  }

  template <class T>
  std::optional<std::vector<T>> all_of_kind(const PickleValue& list, PickleKind kind,
                                            T (*convert)(const PickleValue&)) {
    std::vector<T> values;
    for (const PickleIndex item : list.items) {
      if (pickle_[item].kind != kind) {
        return std::nullopt;
      }
      values.push_back(convert(pickle_[item]));
    }
    return values;
  }

  Status add_list(const std::string& name, const PickleValue& list, int depth) {
    visits_left_ -= static_cast<int64_t>(list.items.size());
    if (visits_left_ < 0) {
      return complain(name, "wanted a checkpoint of fewer values");
    }
    if (auto integers = all_of_kind<int64_t>(list, PickleKind::Integer,
                                             [](const PickleValue& v) { return v.integer; })) {
      return builder_.set(name, std::move(*integers));
    }
    if (auto numbers = all_of_kind<double>(list, PickleKind::Float,
                                           [](const PickleValue& v) { return v.number; })) {
      return builder_.set(name, std::move(*numbers));
    }
    if (auto texts = all_of_kind<std::string>(
            list, PickleKind::Text, [](const PickleValue& v) { return std::string(v.text); })) {
      return builder_.set(name, std::move(*texts));
    }
    for (size_t i = 0; i < list.items.size(); ++i) {
      MYNAH_TRY_STATUS(add(join(name, std::to_string(i)), list.items[i], depth + 1));
    }
    return {};
  }

  Status add_scalar(const std::string& name, const PickleValue& value) {
    switch (value.kind) {
      case PickleKind::Bool:
        return builder_.set(name, value.integer != 0);
      case PickleKind::Integer:
        return builder_.set(name, value.integer);
      case PickleKind::Float:
        return builder_.set(name, value.number);
      default:
        return builder_.set(name, std::string(value.text));
    }
  }

  Status add_call(const std::string& name, const PickleValue& call, int depth) {
    const std::string_view callee = pickle_[call.items[0]].text;
    const std::vector<PickleIndex>& arguments = pickle_[call.items[1]].items;
    if (callee == "torch._utils _rebuild_parameter" && !arguments.empty()) {
      return add(name, arguments[0], depth + 1);
    }
    if (callee == "torch Size" && arguments.size() == 1) {
      return add(name, arguments[0], depth + 1);
    }
    if (callee.starts_with("torch._utils _rebuild_tensor") && arguments.size() >= 4) {
      return add_tensor(name, arguments);
    }
    return complain(name, "wanted a tensor or plain values, found a call of " + in_quotes(callee));
  }

  // A tuple of sizes or strides.
  Result<std::vector<uint64_t>> read_sizes(std::string_view name, PickleIndex index) {
    const PickleValue* tuple = &pickle_[index];
    if (tuple->kind == PickleKind::Call && pickle_[tuple->items[0]].text == "torch Size" &&
        pickle_[tuple->items[1]].items.size() == 1) {
      tuple = &pickle_[pickle_[tuple->items[1]].items[0]];
    }
    std::vector<uint64_t> sizes;
    if (tuple->kind != PickleKind::Tuple || tuple->items.size() > kMaxRank) {
      return complain(name, fmt::format("wanted a tuple of at most {} sizes", kMaxRank));
    }
    for (const PickleIndex item : tuple->items) {
      const PickleValue& size = pickle_[item];
      if (size.kind != PickleKind::Integer || size.integer < 0) {
        return complain(name, "wanted sizes and strides of 0 or more");
      }
      sizes.push_back(static_cast<uint64_t>(size.integer));
    }
    return sizes;
  }

  // ("storage", type, key, location, elements), by which the pickle refers to a member.
  Result<Storage> read_storage(std::string_view name, PickleIndex index) {
    const PickleValue& persistent = pickle_[index];
    const PickleValue* id =
        persistent.kind == PickleKind::Persistent ? &pickle_[persistent.items[0]] : nullptr;
    if (id == nullptr || id->kind != PickleKind::Tuple || id->items.size() < 5 ||
        pickle_[id->items[0]].text != "storage") {
      return complain(name, "wanted a reference to a storage of the checkpoint");
    }
    const std::string_view global = pickle_[id->items[1]].text;
    const auto* const type = std::ranges::find(kStorageTypes, global, &StorageType::global);
    if (type == kStorageTypes.end()) {
      return complain(name, "wanted a storage of numbers, found " + in_quotes(global));
    }
    MYNAH_TRY(const std::span<const std::byte> bytes, storage_bytes_of(name, id->items[2]));
    return Storage{*type, bytes};
  }

  // The member data/KEY, unpacked once.
  Result<std::span<const std::byte>> storage_bytes_of(std::string_view name, PickleIndex key) {
    const std::string path = prefix_ + "data/" + std::string(pickle_[key].text);
    const auto seen = storages_.find(path);
    if (seen != storages_.end()) {
      return seen->second;
    }
    const ZipMember* member = archive_.find(path);
    if (member == nullptr) {
      return complain(name, "wanted the archive's member " + in_quotes(path) + ", found none");
    }
    MYNAH_TRY(ZipBytes bytes, archive_.read(*member));
    builder_.unpacked(bytes.bytes.size());
    builder_.keep(std::move(bytes.owner));
    storages_.emplace(path, bytes.bytes);
    return bytes.bytes;
  }

  // (storage, offset, sizes, strides, ...)
  Status add_tensor(const std::string& name, const std::vector<PickleIndex>& arguments) {
    MYNAH_TRY(const Storage storage, read_storage(name, arguments[0]));
    const PickleValue& offset_value = pickle_[arguments[1]];
    if (offset_value.kind != PickleKind::Integer || offset_value.integer < 0) {
      return complain(name, "wanted an offset of 0 or more");
    }
    const auto offset = static_cast<uint64_t>(offset_value.integer);
    MYNAH_TRY(const std::vector<uint64_t> sizes, read_sizes(name, arguments[2]));
    MYNAH_TRY(const std::vector<uint64_t> strides, read_sizes(name, arguments[3]));
    if (sizes.size() != strides.size()) {
      return complain(name, "wanted as many strides as sizes");
    }
    const auto bytes = stored_bytes(storage.type.type, sizes);
    if (!bytes) {
      return complain(name, bytes.error().message);
    }
    if (!is_contiguous(sizes, strides)) {
      auto copy = copy_strided(storage.bytes, storage.type.bytes, offset, sizes, strides);
      if (!copy) {
        return complain(name, copy.error().message);
      }
      return builder_.add_owned(name, storage.type.type, sizes, std::move(*copy));
    }
    const auto begin = checked_multiply(offset, storage.type.bytes);
    if (!begin || *begin > storage.bytes.size() || *bytes > storage.bytes.size() - *begin) {
      return complain(
          name, fmt::format("wanted {} bytes at element {}, found a storage of {} bytes", *bytes,
                            offset, storage.bytes.size()));
    }
    return builder_.add(name, storage.type.type, sizes, storage.bytes.subspan(*begin, *bytes));
  }

  const ZipArchive& archive_;
  std::string prefix_;
  const Pickle& pickle_;
  TensorFileBuilder& builder_;
  std::unordered_map<std::string, std::span<const std::byte>> storages_;
  int64_t visits_left_;
};

// The checkpoint's pickle: NAME/data.pkl, NAME being the file's at the time it was saved.
Result<const ZipMember*> find_pickle(const ZipArchive& archive) {
  for (const ZipMember& member : archive.members()) {
    const std::string_view name = member.name;
    if (name.ends_with(kPickleName) &&
        std::ranges::count(name, '/') == (name == kPickleName ? 0 : 1)) {
      return &member;
    }
  }
  return fail(
      ErrorCode::InvalidInput,
      archive.path() + ": wanted a PyTorch checkpoint with a member NAME/data.pkl, found none");
}

Status check_byte_order(const ZipArchive& archive, const std::string& prefix) {
  const ZipMember* member = archive.find(prefix + "byteorder");
  if (member == nullptr) {
    return {};
  }
  MYNAH_TRY(const ZipBytes bytes, archive.read(*member));
  const std::string_view order(reinterpret_cast<const char*>(bytes.bytes.data()),
                               bytes.bytes.size());
  if (order != "little") {
    return fail(ErrorCode::Unsupported,
                archive.path() + ": wanted a little-endian checkpoint, found byte order " +
                    in_quotes(order));
  }
  return {};
}

}  // namespace

Result<TensorFile> read_pytorch(const std::shared_ptr<const MappedFile>& file) {
  MYNAH_TRY(const ZipArchive archive, ZipArchive::open(file));
  MYNAH_TRY(const ZipMember* const member, find_pickle(archive));
  const std::string label = file->path() + ", member " + in_quotes(member->name);
  TensorFileBuilder builder("pytorch", file);
  if (member->bytes > kMaxPickleBytes) {
    return fail(ErrorCode::Unsupported,
                fmt::format("{}: wanted a pickle of at most {} bytes, found {}", label,
                            kMaxPickleBytes, member->bytes));
  }
  MYNAH_TRY(const ZipBytes bytes, archive.read(*member));
  const std::string prefix = member->name.substr(0, member->name.size() - kPickleName.size());
  MYNAH_TRY_STATUS(check_byte_order(archive, prefix));
  MYNAH_TRY(const Pickle pickle, read_pickle(bytes.bytes, label, kKnownGlobals));
  const bool bare_tensor = pickle[pickle.root].kind == PickleKind::Call;
  MYNAH_TRY_STATUS(CheckpointReader(archive, prefix, pickle, builder)
                       .add(bare_tensor ? "tensor" : "", pickle.root, 0));
  return std::move(builder).finish();
}

}  // namespace mynah
