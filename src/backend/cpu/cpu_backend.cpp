// CpuBackend: making it, its memory, its weights.
#include "backend/cpu/cpu_backend.h"

#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "backend/cpu/cpu_backend_class.h"
#include "backend/cpu/packed.h"
#include "backend/cpu/packed_blocks.h"
#include "backend/cpu/speech.h"
#include "base/check.h"
#include "tensor/quantize.h"

namespace mynah {

std::vector<std::string> cpu_instruction_sets() {
  std::vector<std::string> names;
  for (int i = 0; i <= static_cast<int>(cpu::detect_isa()); ++i) {
    names.emplace_back(cpu::name(static_cast<cpu::Isa>(i)));
  }
  return names;
}

Result<std::unique_ptr<Backend>> make_cpu_backend(ThreadPool& pool,
                                                  const std::optional<std::string>& isa) {
  cpu::Isa chosen = cpu::detect_isa();
  if (isa) {
    const auto wanted = cpu::parse_isa(*isa);
    if (!wanted || *wanted > chosen) {
      return fail(ErrorCode::Unsupported,
                  fmt::format("wanted instruction set {}, this processor has {}", *isa,
                              fmt::join(cpu_instruction_sets(), ", ")));
    }
    chosen = *wanted;
  }
  return std::make_unique<cpu::CpuBackend>(pool, chosen);
}

namespace cpu {

CpuBackend::CpuBackend(ThreadPool& pool, Isa isa)
    : pool_(pool), isa_(isa), kernels_(kernels_for(isa)) {}

CpuBackend::~CpuBackend() = default;

std::string CpuBackend::description() const {
  return fmt::format("cpu ({}, {} thread{})", name(isa_), pool_.size(),
                     pool_.size() == 1 ? "" : "s");
}

bool CpuBackend::supports_weight(DType dtype) const {
  if (dtype == DType::I16) {
    return kernels_.gemm_i16 != nullptr;
  }
  return dtype != DType::U8 && dtype != DType::I32 && dtype != DType::I64;
}

void CpuBackend::upload(const void* source, const Tensor& out) {
  std::memcpy(out.raw(), source, storage_bytes(out.dtype(), out.elements()));
}

void CpuBackend::download(const Tensor& x, void* destination) {
  std::memcpy(destination, x.raw(), storage_bytes(x.dtype(), x.elements()));
}

namespace {

// Calls fn(offset of x, offset of out) for each row (last dimension) of two tensors of one shape.
template <class Fn>
void for_each_row(const Tensor& x, const Tensor& out, const Fn& fn) {
  const int rank = x.rank();
  const int64_t rows = rank == 0 ? 1 : x.elements() / std::max<int64_t>(1, x.dim(-1));
  for (int64_t row = 0; row < rows; ++row) {
    int64_t rest = row;
    int64_t from = 0;
    int64_t to = 0;
    for (int d = rank - 2; d >= 0; --d) {
      const int64_t at = rest % x.dim(d);
      rest /= x.dim(d);
      from += at * x.stride(d);
      to += at * out.stride(d);
    }
    fn(from, to);
  }
}

}  // namespace

void CpuBackend::copy(const Tensor& x, const Tensor& out) {
  const int64_t n = x.rank() == 0 ? 1 : x.dim(-1);
  const auto bytes = [](const Tensor& t, int64_t offset) {
    return t.raw() + storage_bytes(t.dtype(), offset);
  };
  for_each_row(x, out, [&](int64_t from, int64_t to) {
    const std::byte* source = bytes(x, from);
    std::byte* target = bytes(out, to);
    if (x.dtype() == out.dtype()) {
      std::memcpy(target, source, storage_bytes(x.dtype(), n));
      return;
    }
    // Between half-size types through f32.
    const bool widened = x.dtype() != DType::F32 && out.dtype() != DType::F32;
    const Scratch<float> wide(memory_, widened ? n : 1);
    const auto* numbers = reinterpret_cast<const float*>(source);
    if (x.dtype() != DType::F32) {
      float* to_f32 = widened ? wide.data() : reinterpret_cast<float*>(target);
      const auto widen = x.dtype() == DType::F16 ? kernels_.from_f16 : kernels_.from_bf16;
      widen(reinterpret_cast<const uint16_t*>(source), n, to_f32);
      numbers = to_f32;
    }
    if (out.dtype() != DType::F32) {
      const auto narrow = out.dtype() == DType::F16 ? kernels_.to_f16 : kernels_.to_bf16;
      narrow(numbers, n, reinterpret_cast<uint16_t*>(target));
    }
  });
}

std::string CpuBackend::packed_layout() const {
  return "cpu-panel32-5";
}

LinearWeight CpuBackend::pack_linear(const Tensor& w, DType storage) {
  LinearWeight packed{
      .out_features = w.dim(0), .in_features = w.dim(1), .dtype = storage, .data = {}};
  const PackedView view(packed);
  const auto bytes = static_cast<int64_t>(view.total_bytes());
  packed.data = Tensor(allocate(view.total_bytes()), 0, {bytes}, DType::U8, device());
  const int64_t k = w.dim(1);
  const size_t row_bytes = storage_bytes(w.dtype(), k);
  if (is_block_type(storage)) {
    MYNAH_CHECK(w.dtype() == storage, "[pack_linear] a block type is kept as it is");
    const BlockPanels panels(packed);
    pool_.parallel_for(view.panels(), 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        panels.pack(p, w.raw() + static_cast<size_t>(p * kPanel) * row_bytes);
      }
    });
    return packed;
  }
  pool_.parallel_for(view.panels(), 1, [&](int64_t begin, int64_t end) {
    std::vector<float> rows(static_cast<size_t>(kPanel * k));
    for (int64_t p = begin; p < end; ++p) {
      const auto count = static_cast<size_t>(view.columns(p) * k);
      mynah::dequantize(w.dtype(), w.raw() + static_cast<size_t>(p * kPanel) * row_bytes,
                        {rows.data(), count});
      pack_panel(packed, p, {rows.data(), count});
    }
  });
  return packed;
}

namespace {

// Rounds one output channel's weights to what `storage` can hold.
void round_row(DType storage, std::span<float> row) {
  if (storage == DType::I8) {
    std::vector<int8_t> quantized(row.size());
    const float scale = quantize_row_i8(row, quantized.data());
    for (size_t i = 0; i < row.size(); ++i) {
      row[i] = scale * static_cast<float>(quantized[i]);
    }
  } else if (storage == DType::F16 || storage == DType::BF16) {
    std::vector<std::byte> bytes(storage_bytes(storage, static_cast<int64_t>(row.size())));
    mynah::quantize(storage, row, bytes.data());
    mynah::dequantize(storage, bytes.data(), row);
  }
}

}  // namespace

LinearWeight CpuBackend::pack_conv1d(const Tensor& w, DType storage, int64_t groups) {
  const int64_t out = w.dim(0);
  const int64_t in = w.dim(1);
  const int64_t kernel = w.dim(2);
  std::vector<float> values(static_cast<size_t>(w.elements()));
  mynah::dequantize(w.dtype(), w.raw(), values);
  // (out, in, kernel) -> (out, kernel, in): a window of an utterance is rows of channels.
  const Shape shape{out, kernel * in};
  const Tensor turned(allocate(values.size() * sizeof(float)), 0, shape, DType::F32, device());
  for (int64_t o = 0; o < out; ++o) {
    for (int64_t c = 0; c < in; ++c) {
      for (int64_t j = 0; j < kernel; ++j) {
        turned.data<float>()[(o * kernel + j) * in + c] =
            values[static_cast<size_t>((o * in + c) * kernel + j)];
      }
    }
  }
  if (groups == 1) {
    return pack_linear(turned, is_block_type(storage) ? DType::F32 : storage);
  }
  // Grouped weights stay rows of f32 (conv1d_grouped): their groups are too narrow for panels.
  // Their values are those of the storage type.
  for (int64_t o = 0; o < out; ++o) {
    round_row(storage, {turned.data<float>() + o * kernel * in, static_cast<size_t>(kernel * in)});
  }
  const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
  Tensor rows(allocate(static_cast<size_t>(bytes)), 0, {bytes}, DType::U8, device());
  std::memcpy(rows.raw(), turned.raw(), static_cast<size_t>(bytes));
  return {.out_features = out, .in_features = kernel * in, .dtype = DType::F32, .data = rows};
}

}  // namespace cpu
}  // namespace mynah
