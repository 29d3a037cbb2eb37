// A product of a warpgroup, right or with a mistake: what the simulation must find.
#include "backend/cuda/simt/simt.h"
#include "cuda/warpgroup_kernel.h"

namespace mynah::simt {

namespace {

constexpr int kPanelWords = 64;  // two units of eight rows
constexpr int kPanelBytes = kPanelWords * 4;
constexpr int kPanelsOfA = 8;
constexpr int kPanelsOfB = 16;
constexpr int kColumns = kPanelsOfB * 8;

using Mistake = WarpgroupMistake;

void copy_sides(const WarpgroupArgs& args, const Shared<uint32_t>& panels,
                const Shared<uint64_t>& filled, const Shared<uint64_t>& used) {
  const Global<const uint32_t> a(args.a);
  const Global<const uint32_t> b(args.b);
  const int rounds = args.mistake == Mistake::CopiesOverWhatIsRead ? 2 : 1;
  if (lane() != 0 || args.mistake == Mistake::WaitsForNobody) {
    return;
  }
  for (int round = 0; round < rounds; ++round) {
    arrive_expecting(filled, (kPanelsOfA + kPanelsOfB) * kPanelBytes);
    if (args.mistake == Mistake::ArrivesTooOften) {
      arrive(filled);
    }
    copy_bulk_async(panels, a,
                    args.mistake == Mistake::CopiesEightBytes ? 8 : kPanelsOfA * kPanelBytes,
                    filled);
    copy_bulk_async(panels.from(kPanelsOfA * kPanelWords), b, kPanelsOfB * kPanelBytes, filled);
    if (args.mistake == Mistake::EndsBeforeItsCopies) {
      return;
    }
    // So that the first copies have arrived; who reads them is not asked.
    wait_for_phase(filled, round);
  }
  if (args.mistake == Mistake::None) {
    wait_for_phase(used, 0);
    panels[0] = 0;
  }
}

template <class Multiply>
void multiply(const WarpgroupArgs& args, const Shared<uint32_t>& panels,
              const Shared<uint64_t>& filled, const Shared<uint64_t>& used,
              const Multiply& multiply_sides) {
  const Mistake mistake = args.mistake;
  if (mistake == Mistake::EndsBeforeItsCopies) {
    return;
  }
  if (mistake != Mistake::ReadsBeforeTheCopy) {
    wait_for_phase(filled, 0);
  }
  if (mistake != Mistake::MultipliesUnprepared) {
    begin_products();
  }
  const int other = mistake == Mistake::MultipliesOtherMatrices ? lane() % 2 : 0;
  float sums[kPanelsOfB][4] = {};
  const Shared<uint32_t> b = panels.from((kPanelsOfA - other) * kPanelWords);
  multiply_sides(panels, b, sums, false);
  multiply_sides(panels, b, sums, true);
  const auto write = [&] {
    const Global<float> c(args.c);
    for (int p = 0; p < kPanelsOfB; ++p) {
      for (int i = 0; i < 4; ++i) {
        const int row = warp() * 16 + lane() / 4 + i / 2 * 8;
        c[row * kColumns + p * 8 + lane() % 4 * 2 + i % 2] = sums[p][i];
      }
    }
  };
  if (mistake == Mistake::LooksAtSumsTooEarly) {
    write();
  }
  if (mistake == Mistake::EndsBeforeItsProducts) {
    return;
  }
  wait_for_products(sums);
  if (lane() == 0) {
    arrive(used);
  }
  if (mistake != Mistake::LooksAtSumsTooEarly) {
    write();
  }
}

}  // namespace

MYNAH_KERNEL(multiply_warpgroup, WarpgroupArgs, kWarpgroupThreads) {
  MYNAH_SHARED(uint32_t, panels, (kPanelsOfA + kPanelsOfB) * kPanelWords);
  MYNAH_SHARED(uint64_t, filled, 1);
  MYNAH_SHARED(uint64_t, used, 1);
  if (thread_index() == 0 && args.mistake != Mistake::UsesWhatIsNoMbarrier) {
    init_mbarrier(filled, 1);
    init_mbarrier(used, kWarpgroupWarps);
  }
  if (args.mistake != Mistake::SharesTheMbarrierAtOnce) {
    barrier();
  }
  if (warp() == kWarpgroupWarps) {
    copy_sides(args, panels, filled, used);
    return;
  }
  switch (args.type) {
    case WarpgroupType::F16:
      return multiply(args, panels, filled, used,
                      [](const auto& a, const auto& b, auto& sums, bool adds) {
                        multiply_panels<F16>(a, b, kPanelBytes, sums, adds);
                      });
    case WarpgroupType::Bf16:
      return multiply(args, panels, filled, used,
                      [](const auto& a, const auto& b, auto& sums, bool adds) {
                        multiply_panels<Bf16>(a, b, kPanelBytes, sums, adds);
                      });
  }
}

}  // namespace mynah::simt
