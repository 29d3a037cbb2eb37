// The products of a language model's step, one text and eight, as docs/language_products.tsv has
// them.
#pragma once

#include <string>

namespace mynah::bench {

// A line a storage type, rows and size, tab-separated, the first of them names.
std::string language_products();

}  // namespace mynah::bench
