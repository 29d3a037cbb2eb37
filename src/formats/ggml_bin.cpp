#include "formats/ggml_bin.h"

#include <array>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "formats/byte_reader.h"
#include "formats/ggml_types.h"
#include "formats/gguf.h"
#include "formats/tensor_file_builder.h"

namespace mynah {
namespace {

// whisper.cpp src/whisper.cpp, struct whisper_hparams.
constexpr std::array<std::string_view, 11> kWhisperFields = {
    "n_vocab",      "n_audio_ctx", "n_audio_state", "n_audio_head", "n_audio_layer", "n_text_ctx",
    "n_text_state", "n_text_head", "n_text_layer",  "n_mels",       "ftype"};

// whisper.cpp src/parakeet.cpp, struct parakeet_hparams.
constexpr std::array<std::string_view, 15> kParakeetFields = {
    "n_vocab",       "n_audio_ctx", "n_audio_state", "n_audio_head",       "n_audio_layer",
    "n_mels",        "ftype",       "n_fft",         "subsampling_factor", "n_subsampling_channels",
    "n_conv_kernel", "n_pred_dim",  "n_pred_layers", "n_tdt_durations",    "n_max_tokens"};

constexpr size_t kWhisperMels = 9;  // of n_mels among the fields
constexpr size_t kParakeetMels = 5;
constexpr int32_t kMaxSileroLayers = 64;  // the published model has 4

// Field i of a header of 32-bit integers, without moving on.
Result<int32_t> peek(ByteReader reader, size_t i) {
  MYNAH_TRY_STATUS(reader.take(i * sizeof(int32_t), "the header"));
  return reader.read<int32_t>("the header");
}

// The header repeats n_mels at the head of the mel filters, just after the fields: that tells the
// two layouts apart.
Result<bool> repeats_mels(const ByteReader& reader, size_t fields, size_t mels_at) {
  MYNAH_TRY(const int32_t repeated, peek(reader, fields));
  MYNAH_TRY(const int32_t mels, peek(reader, mels_at));
  return repeated == mels;
}

// A field that counts something; `at_least` is the least that makes sense.
Result<int32_t> read_count(ByteReader& reader, std::string_view name, int32_t at_least) {
  MYNAH_TRY(const auto value, reader.read<int32_t>(name));
  if (value < at_least) {
    return reader.fail_here(fmt::format(
        "wanted {} to be {} or more, found {}; the header is damaged", name, at_least, value));
  }
  return value;
}

Status read_fields(ByteReader& reader, std::span<const std::string_view> fields,
                   TensorFileBuilder& builder) {
  for (const std::string_view field : fields) {
    MYNAH_TRY(const int32_t value, read_count(reader, field, field == "ftype" ? 0 : 1));
    MYNAH_TRY_STATUS(builder.set(field, static_cast<int64_t>(value)));
  }
  return {};
}

// `count` float32 values as a tensor.
Status read_floats(ByteReader& reader, std::string_view name, std::span<const uint64_t> sizes,
                   TensorFileBuilder& builder) {
  const ElementType type{DType::F32, Widening::None};
  MYNAH_TRY(const uint64_t bytes, stored_bytes(type, sizes));
  MYNAH_TRY(const std::span<const std::byte> values, reader.take(bytes, name));
  return builder.add(name, type, sizes, values);
}

Status read_mel_filters(ByteReader& reader, int64_t n_mels, TensorFileBuilder& builder) {
  MYNAH_TRY(const int32_t rows, read_count(reader, "the mel filters' rows", 1));
  MYNAH_TRY(const int32_t bins, read_count(reader, "the mel filters' bins", 1));
  if (rows != n_mels) {
    return reader.fail_here(
        fmt::format("wanted {} mel filters as n_mels says, found {}", n_mels, rows));
  }
  const std::array<uint64_t, 2> sizes = {static_cast<uint64_t>(rows), static_cast<uint64_t>(bins)};
  return read_floats(reader, "mel_filters", sizes, builder);
}

Status read_vocabulary(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY(const int32_t count, read_count(reader, "the number of tokens", 0));
  std::vector<std::string> tokens;
  for (int32_t i = 0; i < count; ++i) {
    MYNAH_TRY(const auto length, reader.read<uint32_t>("a token's length"));
    MYNAH_TRY(const std::string_view token, reader.text(length, "a token"));
    tokens.emplace_back(token);
  }
  return builder.set("vocabulary", std::move(tokens));
}

int64_t field(const TensorFileBuilder& builder, std::string_view name) {
  return std::get<int64_t>(builder.file().metadata.find(name)->second);
}

Status read_whisper_header(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY_STATUS(builder.set("ggml.model", std::string("whisper")));
  MYNAH_TRY_STATUS(read_fields(reader, kWhisperFields, builder));
  MYNAH_TRY_STATUS(read_mel_filters(reader, field(builder, "n_mels"), builder));
  return read_vocabulary(reader, builder);
}

Status read_parakeet_header(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY_STATUS(builder.set("ggml.model", std::string("parakeet")));
  MYNAH_TRY_STATUS(read_fields(reader, kParakeetFields, builder));
  MYNAH_TRY_STATUS(read_mel_filters(reader, field(builder, "n_mels"), builder));
  MYNAH_TRY(const int32_t window, read_count(reader, "the mel window's samples", 0));
  const std::array<uint64_t, 1> sizes = {static_cast<uint64_t>(window)};
  MYNAH_TRY_STATUS(read_floats(reader, "mel_window", sizes, builder));
  std::vector<int64_t> durations;
  for (int64_t i = 0; i < field(builder, "n_tdt_durations"); ++i) {
    MYNAH_TRY(const auto duration, reader.read<uint32_t>("a duration"));
    durations.push_back(duration);
  }
  MYNAH_TRY_STATUS(builder.set("tdt_durations", std::move(durations)));
  return read_vocabulary(reader, builder);
}

Status read_silero_header(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY_STATUS(builder.set("ggml.model", std::string("silero")));
  MYNAH_TRY(const int32_t length, read_count(reader, "the type's length", 1));
  MYNAH_TRY(const std::string_view type, reader.text(static_cast<uint64_t>(length), "the type"));
  MYNAH_TRY_STATUS(builder.set("type", std::string(type)));
  std::vector<int64_t> version;
  for (int i = 0; i < 3; ++i) {
    MYNAH_TRY(const int32_t part, read_count(reader, "a part of the version", 0));
    version.push_back(part);
  }
  MYNAH_TRY_STATUS(builder.set("version", fmt::format("{}", fmt::join(version, "."))));
  constexpr std::array<std::string_view, 2> kBefore = {"n_window", "n_context"};
  MYNAH_TRY_STATUS(read_fields(reader, kBefore, builder));
  MYNAH_TRY(const int32_t layers, read_count(reader, "n_encoder_layers", 1));
  if (layers > kMaxSileroLayers) {
    return reader.fail_here(
        fmt::format("wanted at most {} encoder layers, found {}; the header is "
                    "damaged",
                    kMaxSileroLayers, layers));
  }
  for (int32_t i = 0; i < layers; ++i) {
    for (const std::string_view name : {"in_channels", "out_channels", "kernel_size"}) {
      MYNAH_TRY(const int32_t value, read_count(reader, name, 1));
      MYNAH_TRY_STATUS(builder.set(fmt::format("encoder.{}.{}", i, name), int64_t{value}));
    }
  }
  constexpr std::array<std::string_view, 4> kAfter = {"lstm_input_size", "lstm_hidden_size",
                                                      "final_conv_in", "final_conv_out"};
  return read_fields(reader, kAfter, builder);
}

Status read_tensor(ByteReader& reader, TensorFileBuilder& builder) {
  MYNAH_TRY(const int32_t rank, read_count(reader, "a tensor's number of dimensions", 0));
  MYNAH_TRY(const int32_t name_bytes, read_count(reader, "a tensor's name's length", 1));
  MYNAH_TRY(const auto ggml_type, reader.read<uint32_t>("a tensor's type"));
  if (rank > kMaxGgmlDimensions) {
    return reader.fail_here(fmt::format("wanted a tensor of at most {} dimensions, found {}",
                                        kMaxGgmlDimensions, rank));
  }
  std::vector<uint64_t> sizes(static_cast<size_t>(rank));
  for (size_t i = sizes.size(); i > 0; --i) {
    MYNAH_TRY(const int32_t size, read_count(reader, "a tensor's size", 0));
    sizes[i - 1] = static_cast<uint64_t>(size);
  }
  MYNAH_TRY(const std::string_view name,
            reader.text(static_cast<uint64_t>(name_bytes), "a tensor's name"));
  const auto type = element_type_of_ggml(ggml_type);
  if (!type) {
    return reader.fail_here(
        fmt::format("tensor {}: ggml type {} is none that mynah reads; quantise the model to f16, "
                    "q8_0 or one of q4_0 to q6_k",
                    in_quotes(name), ggml_type),
        ErrorCode::Unsupported);
  }
  const auto bytes = stored_bytes(*type, sizes);
  if (!bytes) {
    return reader.fail_here("tensor " + in_quotes(name) + ": " + bytes.error().message);
  }
  MYNAH_TRY(const std::span<const std::byte> values,
            reader.take(*bytes, "tensor " + in_quotes(name)));
  return builder.add(name, *type, sizes, values);
}

Status read_header(ByteReader& reader, TensorFileBuilder& builder) {
  constexpr std::string_view kSilero = "silero";
  ByteReader ahead = reader;
  MYNAH_TRY_STATUS(ahead.read<uint32_t>("the header"));
  MYNAH_TRY(const std::string_view type, ahead.text(kSilero.size(), "the header"));
  if (type == kSilero) {
    return read_silero_header(reader, builder);
  }
  MYNAH_TRY(const bool whisper, repeats_mels(reader, kWhisperFields.size(), kWhisperMels));
  if (whisper) {
    return read_whisper_header(reader, builder);
  }
  MYNAH_TRY(const bool parakeet, repeats_mels(reader, kParakeetFields.size(), kParakeetMels));
  if (parakeet) {
    return read_parakeet_header(reader, builder);
  }
  return reader.fail_here(
      "wanted the header of Whisper, Parakeet or Silero as whisper.cpp writes it, found another "
      "model's or a damaged one",
      ErrorCode::Unsupported);
}

}  // namespace

Result<TensorFile> read_ggml_bin(const std::shared_ptr<const MappedFile>& file) {
  ByteReader reader(file->bytes(), file->path());
  TensorFileBuilder builder("ggml", file);
  MYNAH_TRY(const auto magic, reader.read<uint32_t>("the magic"));
  if (magic != kGgmlMagic) {
    return fail(ErrorCode::InvalidInput,
                fmt::format("{}, byte 0: wanted ggml's magic {:08x}, found {:08x}", file->path(),
                            kGgmlMagic, magic));
  }
  MYNAH_TRY_STATUS(read_header(reader, builder));
  while (!reader.at_end()) {
    MYNAH_TRY_STATUS(read_tensor(reader, builder));
  }
  return std::move(builder).finish();
}

}  // namespace mynah
