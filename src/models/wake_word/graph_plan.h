// GraphPlan: the graph of a TensorFlow Lite model as the steps of a WakeNetwork.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/tflite.h"
#include "models/wake_word/network.h"

namespace mynah::wake_word {

// Goes over the operators once, in their order, which is the order in which they are computed.
class GraphPlan {
 public:
  explicit GraphPlan(const TfliteModel& model) : model_(model), graph_(model.graphs.front()) {}

  // Errors: WakeNetwork::load.
  Result<WakeNetwork> build();

 private:
  // How one tensor's codes are numbers.
  struct Scale {
    double scale = 1;
    int32_t zero = 0;
  };

  [[nodiscard]] std::unexpected<Error> refuse(std::string_view message,
                                              ErrorCode code = ErrorCode::Unsupported) const;
  [[nodiscard]] const TfliteTensor& tensor(int32_t index) const;
  [[nodiscard]] Status wants(const TfliteOperator& one, size_t inputs, size_t outputs) const;

  [[nodiscard]] Status place_tensors();
  [[nodiscard]] Status keep_variables();
  [[nodiscard]] Status take_input();
  [[nodiscard]] Status take_output();
  [[nodiscard]] Status add(const TfliteOperator& one);

  [[nodiscard]] Status add_variable_copy(const TfliteOperator& one);
  [[nodiscard]] Status add_reshape(const TfliteOperator& one);
  [[nodiscard]] Status add_concatenation(const TfliteOperator& one);
  [[nodiscard]] Status add_slice(const TfliteOperator& one);
  [[nodiscard]] Status add_split(const TfliteOperator& one);
  [[nodiscard]] Status add_convolution(const TfliteOperator& one);
  [[nodiscard]] Status add_product(const TfliteOperator& one);
  [[nodiscard]] Status add_lookup(const TfliteOperator& one);

  // Steps of one axis of `from` that lie from `begin` on become those of `to` from `at` on.
  [[nodiscard]] Status add_axis_copy(int32_t from, size_t begin, int32_t to, size_t at, size_t size,
                                     size_t axis);
  [[nodiscard]] Status add_layer(const TfliteOperator& one, Convolution layer, int activation);
  [[nodiscard]] Result<std::vector<Ratio>> ratios_of(const TfliteTensor& weights,
                                                     const Scale& input, const Scale& output,
                                                     size_t channels) const;
  [[nodiscard]] Result<Scale> scale_of(int32_t index) const;
  [[nodiscard]] Result<std::vector<int32_t>> whole_numbers(int32_t index) const;
  [[nodiscard]] Result<Area> area_of(int32_t index) const;
  [[nodiscard]] Result<size_t> axis_of(int64_t axis, int32_t index) const;
  // The place of a tensor that is computed by now.
  [[nodiscard]] Result<size_t> read_place(int32_t index) const;
  // The place of one that is not, and is from now on.
  [[nodiscard]] Result<size_t> write_place(int32_t index);
  [[nodiscard]] Result<size_t> new_memory(uint64_t bytes);

  const TfliteModel& model_;
  const TfliteGraph& graph_;
  WakeNetwork network_;
  std::vector<size_t> places_;  // of the graph's tensors
  std::vector<bool> computed_;
  std::map<std::string_view, std::pair<size_t, size_t>> variables_;  // name: place and bytes
  std::map<int32_t, std::string_view> handles_;                      // tensors that name one
};

}  // namespace mynah::wake_word
