#include "backend/cpu/packed.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "backend/cpu/packed_blocks.h"
#include "tensor/quantize.h"

namespace mynah::cpu {

int64_t PackedView::steps() const {
  switch (w_.dtype) {
    case DType::I8:
      return (w_.in_features + 3) / 4;
    case DType::BF16:
    case DType::I16:
      return (w_.in_features + 1) / 2;
    default:
      return w_.in_features;
  }
}

size_t PackedView::panel_bytes() const {
  if (is_block_type(w_.dtype)) {
    return BlockPanels(w_).panel_bytes();
  }
  const auto panel = static_cast<size_t>(kPanel);
  switch (w_.dtype) {
    case DType::F32:
      return static_cast<size_t>(w_.in_features) * panel * 4;
    case DType::F16:
      return static_cast<size_t>(w_.in_features) * panel * 2;
    default:
      return static_cast<size_t>(steps()) * panel * 4;
  }
}

size_t PackedView::total_bytes() const {
  const auto count = static_cast<size_t>(panels());
  size_t columns_extra = 0;  // numbers of four bytes a column
  if (w_.dtype == DType::I8) {
    columns_extra = 2;
  } else if (w_.dtype == DType::I16) {
    columns_extra = static_cast<size_t>(runs());
  }
  return count * (panel_bytes() + columns_extra * static_cast<size_t>(kPanel) * 4);
}

int64_t PackedView::runs() const {
  return w_.dtype == DType::I16 ? (w_.in_features + kInt16Run - 1) / kInt16Run : 1;
}

float* PackedView::scales(int64_t p) const {
  return reinterpret_cast<float*>(writable_panel(panels())) + p * runs() * kPanel;
}

int32_t* PackedView::sums(int64_t p) const {
  return reinterpret_cast<int32_t*>(scales(panels())) + p * kPanel;
}

int64_t PackedView::columns(int64_t p) const {
  return std::min(kPanel, w_.out_features - p * kPanel);
}

namespace {

void pack_i8(const LinearWeight& w, int64_t p, std::span<const float> rows, int64_t columns) {
  const PackedView view(w);
  const int64_t k = w.in_features;
  auto* panel = reinterpret_cast<int8_t*>(view.writable_panel(p));
  std::memset(panel, 0, view.panel_bytes());
  std::fill_n(view.scales(p), kPanel, 0.0F);
  std::fill_n(view.sums(p), kPanel, 0);
  std::vector<int8_t> quantized(static_cast<size_t>(k));
  for (int64_t c = 0; c < columns; ++c) {
    const auto row = rows.subspan(static_cast<size_t>(c * k), static_cast<size_t>(k));
    view.scales(p)[c] = quantize_row_i8(row, quantized.data());
    int32_t sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      const int8_t value = quantized[static_cast<size_t>(i)];
      panel[i / 4 * 128 + c * 4 + i % 4] = value;
      sum += value;
    }
    view.sums(p)[c] = sum;
  }
}

void pack_i16(const LinearWeight& w, int64_t p, std::span<const float> rows, int64_t columns) {
  const PackedView view(w);
  const int64_t k = w.in_features;
  auto* panel = reinterpret_cast<int16_t*>(view.writable_panel(p));
  std::memset(panel, 0, view.panel_bytes());
  std::fill_n(view.scales(p), view.runs() * kPanel, 0.0F);
  std::vector<int16_t> codes(kInt16Run);
  for (int64_t c = 0; c < columns; ++c) {
    for (int64_t run = 0; run < view.runs(); ++run) {
      const int64_t begin = run * kInt16Run;
      const int64_t count = std::min(kInt16Run, k - begin);
      view.scales(p)[run * kPanel + c] = quantize_run_i16(
          rows.subspan(static_cast<size_t>(c * k + begin), static_cast<size_t>(count)),
          codes.data());
      for (int64_t i = 0; i < count; ++i) {
        panel[(begin + i) / 2 * 64 + c * 2 + i % 2] = codes[static_cast<size_t>(i)];
      }
    }
  }
}

}  // namespace

void pack_panel(const LinearWeight& w, int64_t p, std::span<const float> rows) {
  const PackedView view(w);
  const int64_t k = w.in_features;
  const int64_t columns = view.columns(p);
  if (w.dtype == DType::I8) {
    pack_i8(w, p, rows, columns);
    return;
  }
  if (w.dtype == DType::I16) {
    pack_i16(w, p, rows, columns);
    return;
  }
  std::byte* panel = view.writable_panel(p);
  std::memset(panel, 0, view.panel_bytes());
  for (int64_t c = 0; c < columns; ++c) {
    const float* row = rows.data() + c * k;
    for (int64_t i = 0; i < k; ++i) {
      switch (w.dtype) {
        case DType::F16:
          reinterpret_cast<uint16_t*>(panel)[i * kPanel + c] = f32_to_f16(row[i]);
          break;
        case DType::BF16:
          reinterpret_cast<uint16_t*>(panel)[i / 2 * 64 + c * 2 + i % 2] = f32_to_bf16(row[i]);
          break;
        default:
          reinterpret_cast<float*>(panel)[i * kPanel + c] = row[i];
          break;
      }
    }
  }
}

void widen_panel(const Kernels& kernels, const LinearWeight& w, int64_t p, float* out) {
  const PackedView view(w);
  const int64_t k = w.in_features;
  if (w.dtype == DType::F16) {
    kernels.from_f16(reinterpret_cast<const uint16_t*>(view.panel(p)), k * kPanel, out);
    return;
  }
  if (w.dtype == DType::BF16) {
    const auto* pairs = reinterpret_cast<const uint16_t*>(view.panel(p));
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t c = 0; c < kPanel; ++c) {
        out[i * kPanel + c] = bf16_to_f32(pairs[i / 2 * 64 + c * 2 + i % 2]);
      }
    }
    return;
  }
  if (w.dtype == DType::I16) {
    const auto* pairs = reinterpret_cast<const int16_t*>(view.panel(p));
    const float* const scales = view.scales(p);
    for (int64_t i = 0; i < k; ++i) {
      const int64_t pair = i / 2;
      for (int64_t c = 0; c < kPanel; ++c) {
        out[i * kPanel + c] = static_cast<float>(pairs[pair * 64 + c * 2 + i % 2]) *
                              scales[i / kInt16Run * kPanel + c];
      }
    }
    return;
  }
  if (w.dtype == DType::I8) {
    kernels.widen_i8(reinterpret_cast<const int8_t*>(view.panel(p)), view.steps(), view.scales(p),
                     out);
    return;
  }
  BlockPanels(w).widen(kernels, p, out);
}

}  // namespace mynah::cpu
