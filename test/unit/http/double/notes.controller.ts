// The requests of the double: notes that can be read and added.
import { Body, Get, Path, Post, Query, Route, Security, SuccessResponse, Tags } from '../../../../src/http/decorators'
import type { DoubleContext } from './context'

/** The notes that somebody has made. */
export interface Note {
  name: string
  text: string
}

@Route('1/notes')
@Tags('notes')
@Security('bearer')
export class NotesController {
  constructor(private readonly context: DoubleContext) {}

  /**
   * One note.
   * @param name Its name.
   * @param loud In capital letters.
   */
  @Get('{name}')
  get(@Path() name: string, @Query() loud?: string): Note {
    const text = `a note of ${this.context.caller}`
    return { name, text: loud === undefined ? text : text.toUpperCase() }
  }

  /** Adds a note. */
  @Post('')
  @SuccessResponse(201, 'Created')
  async add(@Body() body: Note): Promise<Note> {
    this.context.reply.status = 201
    this.context.reply.headers['Location'] = `/1/notes/${body.name}`
    return body
  }
}
