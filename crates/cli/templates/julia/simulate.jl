# A culture grows until the dish is full, and is counted eight times with an error of about a tenth.

include("counterpoise.jl")

const TIMES = [2, 4, 6, 8, 10, 12, 14, 16]

function simulate(theta, seed)
    rate, capacity = theta["rate"], theta["capacity"]
    grown = [capacity / (1 + (capacity / 5 - 1) * exp(-rate * time)) for time in TIMES]
    return grown .* exp.(0.1 .* randn(length(TIMES)))
end

serve(simulate, ["cells@$time" for time in TIMES])
