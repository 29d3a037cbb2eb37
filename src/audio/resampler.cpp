#include "audio/resampler.h"

#include <cmath>

#include <fmt/format.h>
#include <soxr.h>

namespace mynah {

void Resampler::Deleter::operator()(void* soxr) const {
  soxr_delete(static_cast<soxr_t>(soxr));
}

Result<Resampler> Resampler::create(int in_hz, int out_hz) {
  soxr_error_t error = nullptr;
  const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
  const soxr_runtime_spec_t one_thread = soxr_runtime_spec(1);
  soxr_t soxr = soxr_create(in_hz, out_hz, 1, &error, nullptr, &quality, &one_thread);
  if (soxr == nullptr || error != nullptr) {
    return fail(ErrorCode::Unsupported, fmt::format("cannot resample from {} Hz to {} Hz: {}",
                                                    in_hz, out_hz, soxr_strerror(error)));
  }
  return Resampler(soxr, in_hz, out_hz);
}

Status Resampler::push(std::span<const float> in, std::vector<float>& out) {
  return in.empty() ? Status{} : run(in.data(), in.size(), out);
}

Status Resampler::finish(std::vector<float>& out) {
  return run(nullptr, 0, out);
}

Status Resampler::run(const float* in, size_t count, std::vector<float>& out) {
  // soxr may hold back or give out more than the ratio says for one call, so the room only sets how
  // often it is called.
  const size_t room = static_cast<size_t>(std::ceil(static_cast<double>(count) * ratio_)) + 1024;
  size_t taken = 0;
  for (;;) {
    const size_t before = out.size();
    out.resize(before + room);
    size_t used = 0;
    size_t made = 0;
    const soxr_error_t error =
        soxr_process(static_cast<soxr_t>(soxr_.get()), in == nullptr ? nullptr : in + taken,
                     count - taken, &used, out.data() + before, room, &made);
    out.resize(before + made);
    if (error != nullptr) {
      return fail(ErrorCode::OutOfMemory, fmt::format("resampling failed: {}", error));
    }
    taken += used;
    if (in == nullptr ? made == 0 : (taken == count && made < room)) {
      return {};
    }
  }
}

}  // namespace mynah
