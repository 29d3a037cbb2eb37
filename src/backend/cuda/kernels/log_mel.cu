// Whisper's log-mel front end (tensor/op_params.h): frames to logarithms, then the floor.
#include "backend/cuda/kernels/math.h"
#include "backend/cuda/kernels/spectrum_args.h"
#include "backend/cuda/kernels/transform.h"

namespace mynah::simt {

namespace {

constexpr int kThreads = 256;
constexpr int kMostWarps = kThreads / kWarp;

// Sample i of an utterance: mirrored before its start, zero after its end.
inline float sample_at(const Global<const float>& waveform, const RowSpan& samples, int64_t i) {
  const int64_t from = i < 0 ? -i : i;
  return from < samples.length ? waveform[samples.begin + from] : 0.0F;
}

}  // namespace

// Filters are triangles over a few bins: where each begins and ends.
MYNAH_KERNEL(mel_ranges, MelRangesArgs, kWarp) {
  const Global<const float> filter(args.filters.data + block_index_x() * args.filters.stride);
  int begin = args.bins;
  int end = 0;
  for (int f = thread_index(); f < args.bins; f += thread_count()) {
    const float weight = filter[f];
    if (weight != 0.0F) {
      begin = f < begin ? f : begin;
      end = f + 1;
    }
  }
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const int other_begin = shuffle_xor(begin, distance);
    const int other_end = shuffle_xor(end, distance);
    begin = other_begin < begin ? other_begin : begin;
    end = other_end > end ? other_end : end;
  }
  if (thread_index() == 0) {
    Global<BinRange>(args.ranges)[block_index_x()] = BinRange{begin, end};
  }
}

MYNAH_KERNEL(log_mel, LogMelArgs, kThreads) {
  MYNAH_DYNAMIC_SHARED(float, buffers);
  MYNAH_SHARED(float, scratch, kMostWarps);
  const RowSpan frames = Global<const RowSpan>(args.frames)[block_index_y()];
  const int64_t first = static_cast<int64_t>(block_index_x()) * args.each;
  const int64_t left = frames.length - first;
  if (left <= 0) {
    return;
  }
  const RowSpan samples = Global<const RowSpan>(args.samples)[block_index_y()];
  const Global<const float> waveform(args.waveform);
  const Global<const float> table(args.table);
  const Global<const float> window(args.table + 2 * args.points);
  const int count = args.points / 2;
  const Transforms all{static_cast<int>(left < args.each ? left : args.each), count};
  for (int i = thread_index(); i < all.rows * count; i += thread_count()) {
    const int row = i / count;
    const int at = 2 * (i - row * count);
    const int64_t from = (first + row) * args.hop - count + at;
    put_number(buffers, i,
               {sample_at(waveform, samples, from) * window[at],
                sample_at(waveform, samples, from + 1) * window[at + 1]});
  }
  const int begin = transform(buffers, all, table);
  // Powers take the other half, which has room for them: count + 1 floats a row.
  const int bins = count + 1;
  const Shared<float> powers = buffers.from(begin == 0 ? 2 * all.rows * count : 0);
  for (int i = thread_index(); i < all.rows * bins; i += thread_count()) {
    const int row = i / bins;
    powers[i] = power_of(buffers, begin + row * count, count, i - row * bins, table);
  }
  barrier();
  const Global<const float> filters(args.filters.data);
  const Global<const BinRange> ranges(args.ranges);
  const Global<float> out(args.out.data);
  float largest = -kInfinity;
  for (int i = thread_index(); i < all.rows * args.mels; i += thread_count()) {
    const int row = i / args.mels;
    const int mel = i - row * args.mels;
    const BinRange range = ranges[mel];
    float energy = 0.0F;
    for (int f = range.begin; f < range.end; ++f) {
      energy = multiply_add(powers[row * bins + f], filters[mel * args.filters.stride + f], energy);
    }
    constexpr float kLog10OfE = 0.434294482F;
    const float level = log(maximum(energy, 1e-10F)) * kLog10OfE;
    out[(frames.begin + first + row) * args.out.stride + mel] = level;
    largest = maximum(largest, level);
  }
  largest = block_max(largest, scratch);
  if (thread_index() == 0) {
    Global<float>(args.largest)[block_index_y() * args.groups + block_index_x()] = largest;
  }
}

// Blocks as log_mel's. Each looks through the largest of all of its utterance's.
MYNAH_KERNEL(log_mel_floor, LogMelArgs, kThreads) {
  MYNAH_SHARED(float, scratch, kMostWarps);
  const RowSpan frames = Global<const RowSpan>(args.frames)[block_index_y()];
  const int64_t first = static_cast<int64_t>(block_index_x()) * args.each;
  const int64_t left = frames.length - first;
  if (left <= 0) {
    return;
  }
  const Global<const float> largest(args.largest + block_index_y() * args.groups);
  const int64_t groups = (frames.length + args.each - 1) / args.each;
  float most = -kInfinity;
  for (int64_t i = thread_index(); i < groups; i += thread_count()) {
    most = maximum(most, largest[i]);
  }
  const float floor = block_max(most, scratch) - 8.0F;
  const int rows = static_cast<int>(left < args.each ? left : args.each);
  const Global<float> out(args.out.data);
  for (int i = thread_index(); i < rows * args.mels; i += thread_count()) {
    const int row = i / args.mels;
    const int64_t at = (frames.begin + first + row) * args.out.stride + (i - row * args.mels);
    const float level = out[at];
    out[at] = (maximum(level, floor) + 4.0F) / 4.0F;
  }
}

}  // namespace mynah::simt
