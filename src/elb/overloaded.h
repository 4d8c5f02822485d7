// Lambdas as one visitor of a variant.
#pragma once

namespace fairlead::elb {

template <class... Ts>
struct Overloaded : Ts... {
    using Ts::operator()...;
};
template <class... Ts>
Overloaded(Ts...) -> Overloaded<Ts...>;

}  // namespace fairlead::elb
