// How loud sound is to people, and how far its wave reaches.
#pragma once

#include <optional>
#include <span>
#include <vector>

namespace mynah {

// Loudness of one channel over all of it, gated, in LUFS (ITU-R BS.1770-4, EBU R 128). None where
// nothing is heard, or where it is shorter than a gating block (0.4 s).
[[nodiscard]] std::optional<double> loudness_lufs(std::span<const float> samples, int rate_hz);

// Makes sound quieter where its true peaks (those between the samples, too: ITU-R BS.1770-4, annex
// 2) are above `ceiling_dbtp`, smoothly, from some milliseconds before to some behind. What is
// below stays as it is, to the bit.
void limit_peaks(std::vector<float>& samples, int rate_hz, double ceiling_dbtp);

}  // namespace mynah
