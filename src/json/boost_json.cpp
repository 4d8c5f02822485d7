// The one place where Boost.JSON's own code is compiled: we link no Boost library, and nobody else pays for it.
#include <boost/json/src.hpp>
