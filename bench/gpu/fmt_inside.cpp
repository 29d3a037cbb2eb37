// The formatting library's functions inside this program: the machine that it is carried to may not
// have the library, and Debian ships it as a shared object alone. The headers have the source.
#include <fmt/format-inl.h>

FMT_BEGIN_NAMESPACE

namespace detail {

template auto dragonbox::to_decimal(float) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double) noexcept -> dragonbox::decimal_fp<double>;
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref) -> char;

}  // namespace detail

FMT_END_NAMESPACE
