#include "tensor/tensor.h"

#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "tensor/host_pool.h"

namespace mynah {
namespace {

Tensor make(HostPool& pool, const Shape& shape, DType dtype = DType::F32) {
  return {pool.allocate(storage_bytes(dtype, shape.elements())), 0, shape, dtype, Device{}};
}

TEST(Shape, PrintsAsNumPyDoesAndCountsFromTheEnd) {
  const Shape shape{1500, 384};
  EXPECT_EQ(shape.str(), "(1500, 384)");
  EXPECT_EQ(shape[-1], 384);
  EXPECT_EQ(shape.elements(), 576000);
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ((Shape{0, 5}).elements(), 0);
}

TEST(DTypeNames, AreReadBackInAnyCase) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  }
  EXPECT_EQ(parse_dtype("Q4_K"), DType::Q4_K);
  EXPECT_FALSE(parse_dtype("q9_9").has_value());
}

TEST(Tensor, NarrowSharesTheMemoryAndKeepsTheStrides) {
  HostPool pool;
  const Tensor x = make(pool, {4, 6});
  for (int i = 0; i < 24; ++i) {
    x.data<float>()[i] = static_cast<float>(i);
  }
  const Tensor columns = x.narrow(1, 2, 3);
  EXPECT_EQ(columns.shape(), (Shape{4, 3}));
  EXPECT_EQ(columns.stride(0), 6);
  EXPECT_FALSE(columns.contiguous());
  EXPECT_EQ(columns.data<float>()[6], 8.0F);
  const Tensor rows = x.narrow(0, 1, 2);
  EXPECT_TRUE(rows.contiguous());
  EXPECT_EQ(rows.reshape({12}).data<float>()[0], 6.0F);
}

TEST(Tensor, NarrowOfABlockTypeStaysOnBlocks) {
  HostPool pool;
  const Tensor x = make(pool, {3, 64}, DType::Q4_0);
  EXPECT_EQ(x.narrow(0, 1, 1).raw() - x.raw(), 36);
}

TEST(Tensor, NarrowOfNarrowIsNarrow) {
  HostPool pool;
  const Tensor x = make(pool, {40, 7});
  EXPECT_TRUE(rc::check([&] {
    const auto begin = *rc::gen::inRange<int64_t>(0, 40);
    const auto length = *rc::gen::inRange<int64_t>(0, 41 - begin);
    const auto inner = *rc::gen::inRange<int64_t>(0, length + 1);
    const Tensor twice = x.narrow(0, begin, length).narrow(0, inner, length - inner);
    const Tensor once = x.narrow(0, begin + inner, length - inner);
    RC_ASSERT(twice.raw() == once.raw());
    RC_ASSERT(twice.shape() == once.shape());
  }));
}

TEST(TensorDeathTest, ViewsOutsideTheBufferAreBugs) {
  HostPool pool;
  const Tensor x = make(pool, {4, 6});
  EXPECT_DEATH(static_cast<void>(x.narrow(0, 3, 2)), "\\[narrow\\] outside \\(4, 6\\)");
  EXPECT_DEATH(static_cast<void>(x.reshape({5, 5})), "\\(4, 6\\) to \\(5, 5\\)");
}

TEST(HostPool, ServesARepeatedLoopFromWhatCameBack) {
  HostPool pool;
  const auto step = [&] {
    std::vector<BufferRef> held;
    for (size_t bytes = 1; bytes < 5'000'000; bytes = bytes * 3 + 1) {
      held.push_back(pool.allocate(bytes));
      EXPECT_GE(held.back().get()->size(), bytes);
      EXPECT_EQ(reinterpret_cast<uintptr_t>(held.back().get()->data()) % 64, 0U);
    }
  };
  step();
  const int64_t before = pool.system_allocations();
  for (int i = 0; i < 10; ++i) {
    step();
  }
  EXPECT_EQ(pool.system_allocations(), before);
  EXPECT_EQ(pool.bytes_in_use(), 0U);
  pool.trim();
  EXPECT_EQ(pool.bytes_held(), 0U);
}

TEST(HostPool, WastesAtMostAQuarterOfALargeBlock) {
  HostPool pool;
  EXPECT_TRUE(rc::check([&] {
    const auto bytes = *rc::gen::inRange<size_t>(512, 10'000'000);
    const BufferRef block = pool.allocate(bytes);
    RC_ASSERT(block.get()->size() >= bytes);
    RC_ASSERT(block.get()->size() <= bytes + bytes / 4 + 64);
    pool.trim();
  }));
}

TEST(HostPool, BlocksMayOutliveThePool) {
  BufferRef block;
  {
    HostPool pool;
    block = pool.allocate(1000);
  }
  block.get()->data()[999] = std::byte{1};
  EXPECT_EQ(block.get()->data()[999], std::byte{1});
}

TEST(WrappedMemory, KeepsItsOwnerAlive) {
  auto owner = std::make_shared<std::vector<float>>(8, 2.0F);
  const std::weak_ptr<std::vector<float>> watch = owner;
  {
    const Tensor x(wrap_host_memory(owner->data(), 32, owner), 0, {8}, DType::F32, Device{});
    owner.reset();
    EXPECT_EQ(x.data<float>()[7], 2.0F);
  }
  EXPECT_TRUE(watch.expired());
}

}  // namespace
}  // namespace mynah
