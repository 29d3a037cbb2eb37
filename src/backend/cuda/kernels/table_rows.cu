// Rows of any type as f32: those of a vocabulary that ids name, or all.
#include "backend/cuda/kernels/blocks.h"
#include "backend/cuda/kernels/product_args.h"
#include "backend/cuda/kernels/row_numbers.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 128;

// A block has kTableColumns columns of a row.
template <class ValueAt>
inline void write_row(const TableArgs& args, const ValueAt& value_at) {
  const Global<float> out(args.out.data + block_index_x() * args.out.stride);
  const int64_t begin = static_cast<int64_t>(block_index_y()) * kTableColumns;
  const int64_t end = begin + kTableColumns < args.columns ? begin + kTableColumns : args.columns;
  for (int64_t i = begin + thread_index(); i < end; i += thread_count()) {
    out[i] = value_at(i);
  }
}

template <class T>
inline void numbers(const TableArgs& args, int64_t row) {
  const Global<const T> x(reinterpret_cast<const T*>(args.table + row * args.row_bytes));
  write_row(args, [&](int64_t i) {
    const T value = x[i];
    return static_cast<float>(value);
  });
}

template <class T>
inline void floats(const TableArgs& args, int64_t row) {
  const Global<const T> x(reinterpret_cast<const T*>(args.table + row * args.row_bytes));
  write_row(args, [&](int64_t i) {
    const T value = x[i];
    return to_float(value);
  });
}

template <Storage kStorage, int kElements, int kBytes>
inline void blocks(const TableArgs& args, int64_t row) {
  const Bytes bytes(args.table + row * args.row_bytes);
  write_row(args, [&](int64_t i) {
    const int64_t block = i / kElements;
    const Element e =
        block_element<kStorage>(bytes, block * kBytes, static_cast<int>(i - block * kElements));
    return multiply_add(static_cast<float>(e.code), e.scale, e.minimum);
  });
}

}  // namespace

MYNAH_KERNEL(table_rows, TableArgs, kThreads) {
  int64_t row = block_index_x();
  if (args.ids != nullptr) {
    const int32_t id = Global<const int32_t>(args.ids)[row];
    if (!row_is_there(id, args.table_rows, RowFault::Embedding, args.fault)) {
      return write_row(args, [](int64_t) { return 0.0F; });
    }
    row = id;
  }
  switch (args.storage) {
    case Storage::F32:
      return floats<float>(args, row);
    case Storage::F16:
      return floats<F16>(args, row);
    case Storage::BF16:
      return floats<Bf16>(args, row);
    case Storage::I8:
      return numbers<int8_t>(args, row);
    case Storage::U8:
      return numbers<uint8_t>(args, row);
    case Storage::I32:
      return numbers<int32_t>(args, row);
    case Storage::I64:
      return numbers<int64_t>(args, row);
    case Storage::Q4_0:
      return blocks<Storage::Q4_0, 32, 18>(args, row);
    case Storage::Q4_1:
      return blocks<Storage::Q4_1, 32, 20>(args, row);
    case Storage::Q5_0:
      return blocks<Storage::Q5_0, 32, 22>(args, row);
    case Storage::Q5_1:
      return blocks<Storage::Q5_1, 32, 24>(args, row);
    case Storage::Q8_0:
      return blocks<Storage::Q8_0, 32, 34>(args, row);
    case Storage::Q2_K:
      return blocks<Storage::Q2_K, 256, 84>(args, row);
    case Storage::Q3_K:
      return blocks<Storage::Q3_K, 256, 110>(args, row);
    case Storage::Q4_K:
      return blocks<Storage::Q4_K, 256, 144>(args, row);
    case Storage::Q5_K:
      return blocks<Storage::Q5_K, 256, 176>(args, row);
    case Storage::Q6_K:
      return blocks<Storage::Q6_K, 256, 210>(args, row);
    case Storage::IQ4_NL:
      return blocks<Storage::IQ4_NL, 32, 18>(args, row);
    case Storage::IQ4_XS:
      return blocks<Storage::IQ4_XS, 256, 136>(args, row);
    case Storage::MXFP4:
      return blocks<Storage::MXFP4, 32, 17>(args, row);
  }
}

}  // namespace mynah::simt
