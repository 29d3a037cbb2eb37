#include "room.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "audio/echo/echo_filter.h"

namespace mynah::bench {

namespace {

constexpr double kRate_hz = 16000;
constexpr double kSound_m_s = 343;

// Taps to either side of an image's time.
constexpr int kReach = 8;

void add_image(std::vector<float>& taps, double at, double gain) {
  const auto first = static_cast<int64_t>(std::floor(at)) - kReach + 1;
  for (int64_t tap = std::max<int64_t>(0, first);
       tap < std::min<int64_t>(first + 2L * kReach, static_cast<int64_t>(taps.size())); ++tap) {
    const double x = static_cast<double>(tap) - at;
    const double angle = std::numbers::pi * x;
    const double sinc = std::abs(angle) < 1e-9 ? 1 : std::sin(angle) / angle;
    const double window = 0.5 + 0.5 * std::cos(angle / kReach);
    taps[static_cast<size_t>(tap)] += static_cast<float>(gain * sinc * window);
  }
}

void cut_lows(std::vector<float>& samples) {
  // Two poles at 80 Hz, one after the other.
  const double pole = std::exp(-2 * std::numbers::pi * 80 / kRate_hz);
  for (int round = 0; round < 2; ++round) {
    double last_in = 0;
    double last_out = 0;
    for (float& sample : samples) {
      const double in = sample;
      last_out = in - last_in + pole * last_out;
      last_in = in;
      sample = static_cast<float>(last_out);
    }
  }
}

// Where the images stand along one side, with how often the sound met its walls.
struct Image {
  double away = 0;
  int walls = 0;
};

std::vector<Image> images(double size, double source, double microphone, double longest) {
  std::vector<Image> found;
  const int most = static_cast<int>(longest / (2 * size)) + 1;
  for (int n = -most; n <= most; ++n) {
    found.push_back({2 * n * size + source - microphone, 2 * std::abs(n)});
    found.push_back({2 * n * size - source - microphone, std::abs(2 * n - 1)});
  }
  return found;
}

}  // namespace

std::vector<float> impulse_response(const Room& room, const Place& source,
                                    const Place& microphone) {
  const auto [length, width, height] = room.size;
  const double volume = length * width * height;
  const double surface = 2 * (length * width + length * height + width * height);
  const double swallowed = 1 - std::exp(-0.161 * volume / (surface * room.rt60_s));
  const double reflected = std::sqrt(1 - swallowed);
  std::vector<float> taps(static_cast<size_t>(room.rt60_s * kRate_hz));
  const double longest = room.rt60_s * kSound_m_s;
  std::array<std::vector<Image>, 3> sides;
  for (size_t side = 0; side < 3; ++side) {
    sides[side] = images(room.size[side], source[side], microphone[side], longest);
  }
  for (const Image& x : sides[0]) {
    for (const Image& y : sides[1]) {
      const double flat = x.away * x.away + y.away * y.away;
      if (flat > longest * longest) {
        continue;
      }
      for (const Image& z : sides[2]) {
        const double away = std::sqrt(flat + z.away * z.away);
        if (away < longest) {
          const double gain =
              std::pow(reflected, x.walls + y.walls + z.walls) / (4 * std::numbers::pi * away);
          add_image(taps, away / kSound_m_s * kRate_hz, gain);
        }
      }
    }
  }
  cut_lows(taps);
  return taps;
}

Convolver::Convolver(std::span<const float> taps)
    : fourier_(2 * echo::kFrame),
      window_(2 * echo::kFrame),
      made_(2 * echo::kFrame),
      sum_(fourier_.bins()) {
  for (size_t begin = 0; begin < taps.size(); begin += echo::kFrame) {
    std::vector<float> part(2 * echo::kFrame);
    const auto some = taps.subspan(begin, std::min(echo::kFrame, taps.size() - begin));
    std::ranges::copy(some, part.begin());
    taps_.emplace_back(fourier_.bins());
    fourier_.forward(part, taps_.back());
  }
  parts_ = taps_.size();
  heard_.assign(parts_, std::vector<std::complex<float>>(fourier_.bins()));
}

void Convolver::process(std::span<const float> in, std::span<float> out) {
  std::ranges::copy(std::span(window_).last(echo::kFrame), window_.begin());
  std::ranges::copy(in, window_.begin() + echo::kFrame);
  newest_ = (newest_ + parts_ - 1) % parts_;
  fourier_.forward(window_, heard_[newest_]);
  std::ranges::fill(sum_, 0.0F);
  for (size_t part = 0; part < parts_; ++part) {
    const float* x = reinterpret_cast<const float*>(heard_[(newest_ + part) % parts_].data());
    const float* h = reinterpret_cast<const float*>(taps_[part].data());
    float* y = reinterpret_cast<float*>(sum_.data());
    for (size_t i = 0; i < 2 * sum_.size(); i += 2) {
      y[i] += x[i] * h[i] - x[i + 1] * h[i + 1];
      y[i + 1] += x[i] * h[i + 1] + x[i + 1] * h[i];
    }
  }
  fourier_.inverse(sum_, made_);
  for (size_t i = 0; i < echo::kFrame; ++i) {
    out[i] = made_[echo::kFrame + i] / (2 * echo::kFrame);
  }
}

}  // namespace mynah::bench
