"""COPASI's direct method. Only the task is timed, not the reading of its time series through the bindings."""
import time

from peer import counts, halved, serve


def prepare(model):
    import COPASI

    data = COPASI.CRootContainer.addDatamodel()
    system, names = data.getModel(), model["species"]
    system.setQuantityUnit("#")
    system.setVolumeUnit("1")
    system.setTimeUnit("1")
    system.createCompartment("c", 1.0)
    for name, initial in zip(names, model["initial"]):
        system.createMetabolite(name, "c", initial, COPASI.CModelEntity.Status_REACTIONS)

    def side(indices):
        return " + ".join(f"{times} * {name}" for name, times in counts(indices, names).items())

    for number, reaction in enumerate(model["reactions"], 1):
        made = system.createReaction(f"R{number}")
        made.setReactionScheme(f"{side(reaction['reactants'])} -> {side(reaction['products'])}")
        made.setParameterValue("k1", halved(reaction))
    system.compileIfNecessary()
    # Without this the counts are read in the units of before.
    system.applyInitialValues()

    task = data.getTask("Time-Course")
    task.setMethodType(COPASI.CTaskEnum.Method_directMethod)
    task.getMethod().getParameter("Max Internal Steps").setIntValue(1_000_000_000)
    problem = task.getProblem()
    problem.setDuration(model["to"])
    problem.setStepNumber(model["steps"])
    problem.setAutomaticStepSize(False)
    problem.setTimeSeriesRequested(True)
    if not task.initialize(COPASI.CCopasiTask.OUTPUT_UI):
        raise RuntimeError(COPASI.CCopasiMessage.getAllMessageText())
    columns = None

    def simulate(count):
        nonlocal columns
        seconds, states = 0.0, []
        for _ in range(count):
            start = time.process_time()
            if not task.process(True):
                raise RuntimeError(COPASI.CCopasiMessage.getAllMessageText())
            seconds += time.process_time() - start
            series = task.getTimeSeries()
            if columns is None:
                titles = [series.getTitle(column) for column in range(series.getNumVariables())]
                columns = [titles.index(name) for name in names]
                assert series.getRecordedSteps() == model["steps"] + 1, "not the times that were asked for"
            states.append([series.getData(model["steps"], column) for column in columns])
        return seconds, states

    return f"COPASI {COPASI.__version__}, direct method", simulate


serve(prepare)
