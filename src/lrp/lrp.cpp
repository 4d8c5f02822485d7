#include "lrp/lrp.h"

namespace fairlead::lrp {

bool succeeded_by(const Tag& held, const Tag& news) {
    return held.epoch.empty() || news.epoch.empty() || held.epoch != news.epoch || held.index < news.index;
}

}  // namespace fairlead::lrp
